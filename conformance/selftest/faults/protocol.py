"""Targets that break the contract: they raise, hang, return something else, or write where they must not."""

from __future__ import annotations

import time
from typing import Any, NoReturn

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, FaultyTarget, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import Grads, hooked
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.rule import Rule


class _ScalesGradients(RuleRun):
    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        for grad in grads:
            if grad is not None:
                np.multiply(grad, grad.dtype.type(0.5), out=grad)
        return super().step([None if grad is None else grad * 2 for grad in grads], learning_rate)


class _ScribblesOnParameters(RuleRun):
    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        for param in parameters:
            param[...] = 0


class _UpdatesItsArguments(RuleRun):
    """Updates the arrays it was started with, and returns copies of them."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.arguments = parameters

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        for param, array in zip(self.arguments, after, strict=True):
            np.copyto(param, array)
        return after


class _KeepsGradients(RuleRun):
    """Scales the gradient of the step before, which it has kept, in place."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.last: Grads = []

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        for grad in self.last:
            if grad is not None:
                np.multiply(grad, grad.dtype.type(0.5), out=grad)
        self.last = grads
        return super().step(grads, learning_rate)


class _RaisesAtStepTwo(RuleRun):
    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        if max(self.training.updates) == 1:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return super().step(grads, learning_rate)


class _Exits(RuleRun):
    def step(self, grads: Grads, learning_rate: float) -> NoReturn:
        raise SystemExit(3)


class _Hangs(RuleRun):
    def step(self, grads: Grads, learning_rate: float) -> NoReturn:
        while True:
            time.sleep(0.01)


class _SavesNothing(RuleRun):
    def state(self) -> dict[str, list[Array]]:
        raise NotImplementedError("state of a fused optimizer")


class _RefusingTarget(FaultyTarget):
    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        raise KeyError(optimizer)


def _refuses_to_start(rule: Rule, parameters: list[Array], memory: Memory) -> NoReturn:
    raise TypeError("unexpected keyword argument 'epsilon'")


def _protocol(name: str, optimizer: str, defect: str, start: Start, because: str, **more: Any) -> Fault:
    return Fault(
        name=name,
        optimizer=optimizer,
        defect=defect,
        start=start,
        rejected_by="protocol",
        outcome="error",
        because=because,
        **more,
    )


enter(
    _protocol(
        "gradient_changed",
        "sgd",
        "gradients are scaled in place, as a clip does",
        run_as(_ScalesGradients),
        "step 1 changed gradient 0, an input",
    ),
    _protocol(
        "gradient_changed_later",
        "momentum",
        "a kept gradient is scaled in place in the step after",
        run_as(_KeepsGradients),
        "changed gradient",
    ),
    _protocol(
        "parameter_changed_by_start",
        "adam",
        "the arrays passed to start are zeroed",
        run_as(_ScribblesOnParameters),
        "start changed parameter",
    ),
    _protocol(
        "parameter_changed_by_step",
        "adagrad",
        "the arrays passed to start are updated in place",
        run_as(_UpdatesItsArguments),
        "step 1 changed parameter 0, an input",
    ),
    _protocol(
        "float64_returned",
        "sgd",
        "promotion by a Python or float64 scalar: float64 is returned for float32",
        hooked(returned=lambda after: [param.astype(np.float64) for param in after]),
        "step 1 returned parameter 0 as float64",
    ),
    _protocol(
        "float32_returned",
        "lamb",
        "float32 is returned for float64",
        hooked(returned=lambda after: [param.astype(np.float32) for param in after]),
        "step 1 returned parameter 0 as float32",
        dtypes=("float64",),
    ),
    _protocol(
        "shape_squeezed",
        "adamax",
        "axes of length 1 are lost",
        hooked(returned=lambda after: [param.squeeze() for param in after]),
        ", must be float32 of shape",
    ),
    _protocol(
        "scalar_becomes_vector",
        "rmsprop",
        "a 0-d parameter comes back with one axis, as np.atleast_1d gives it",
        hooked(returned=lambda after: [np.atleast_1d(param) for param in after]),
        "as float32 of shape (1,), must be float32 of shape ()",
    ),
    _protocol(
        "empty_tensors_dropped",
        "adagrad",
        "empty parameters are left out of what is returned",
        hooked(returned=lambda after: [param for param in after if param.size]),
        "parameters, must be",
    ),
    _protocol(
        "list_too_short",
        "ftrl",
        "one parameter is missing from what is returned",
        hooked(returned=lambda after: after[:-1]),
        "step 1 returned ",
    ),
    _protocol(
        "list_too_long",
        "asgd",
        "the state is returned among the parameters",
        hooked(returned=lambda after: [*after, *after]),
        "step 1 returned ",
    ),
    _protocol(
        "lists_returned",
        "decayed_adagrad",
        "parameters come back as lists of Python numbers",
        hooked(returned=lambda after: [param.tolist() for param in after]),
        "as a list, no array",
    ),
    _protocol(
        "nothing_returned",
        "sgd",
        "the parameters are updated in place, and step returns None",
        hooked(returned=lambda after: None),
        "step 1 returned NoneType",
    ),
    _protocol(
        "raises_at_step_two",
        "adam",
        "the second step fails, as where lazily created state is wrong",
        run_as(_RaisesAtStepTwo),
        "raised RuntimeError: CUDA error",
    ),
    _protocol(
        "refuses_to_start",
        "adadelta",
        "start raises: a hyperparameter is passed under another name",
        _refuses_to_start,
        "raised TypeError: unexpected keyword",
    ),
    _protocol(
        "exits",
        "momentum",
        "a failed assertion of native code ends the process by sys.exit",
        run_as(_Exits),
        "raised SystemExit",
    ),
    _protocol(
        "hangs",
        "lars_momentum",
        "a step never ends, as in a deadlock",
        run_as(_Hangs),
        "hung: one run took longer than 0.1 s",
        time_limit=0.1,
    ),
    _protocol(
        "state_raises",
        "adamax",
        "state is offered and raises",
        run_as(_SavesNothing),
        "raised NotImplementedError: state of a fused optimizer",
    ),
    _protocol(
        "unsupported_raises",
        "decayed_adagrad",
        "unsupported raises instead of answering",
        run_as(RuleRun),
        "unsupported() raised KeyError",
        kind=_RefusingTarget,
    ),
)
