"""Targets that mix up the dtypes of the parameters of one run."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads, rounded
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State

DTYPES = "dtypes_are_independent"


class _StateOfTheFirst(RuleRun):
    """Keeps every slot in the first parameter's dtype."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step, and round the state."""
        after, training = super().step(grads, learning_rate), self.training
        training.states = [
            State(**{slot: working(rounded(np.array(array), after[0].dtype)) for slot, array in state.items()})
            for state in training.states
        ]
        return after


class _GradientsOfTheFirst(RuleRun):
    """Copies all gradients into one buffer, which has the first one's dtype."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step with the gradients rounded to that dtype."""
        dtype = self.training.parameters[0].dtype
        return super().step([None if grad is None else rounded(grad, dtype) for grad in grads], learning_rate)


class FirstDtypeAlone(RuleRun):
    """Updates the parameters dtype by dtype, and returns after the first dtype."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step with what has the first parameter's dtype."""
        dtype = self.training.parameters[0].dtype
        return super().step(
            [grad if grad is not None and grad.dtype == dtype else None for grad in grads], learning_rate
        )


class _CountsEachDtype(RuleRun):
    """Updates the parameters dtype by dtype, and counts a step for each dtype."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.dtypes = list(dict.fromkeys(array.dtype for array in parameters))

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step with a count that has come as far as the dtype's place among all."""
        training, steps = self.training, list(self.training.updates)
        for i, parameter in enumerate(training.parameters):
            training.updates[i] = steps[i] * len(self.dtypes) + self.dtypes.index(parameter.dtype)
        after = super().step(grads, learning_rate)
        training.updates = [step + (grad is not None) for step, grad in zip(steps, grads, strict=True)]
        return after


class DecaysOncePerDtype(RuleRun):
    """Decays all parameters of a group once for each of their dtypes."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.dtypes = {array.dtype for array in parameters}

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay as often as there are dtypes beside the one whose decay the rule does itself."""
        training = self.training
        kept = 1 - learning_rate * training.rule.hyper()["weight_decay"]
        for i, grad in enumerate(grads):
            for _ in range(len(self.dtypes) - 1 if grad is not None else 0):
                training.parameters[i] = training.parameters[i] * kept
        return super().step(grads, learning_rate)


def dtypes_fault(name: str, optimizer: str, defect: str, kind: type[RuleRun]) -> Fault:
    """Declare a fault that shows where there are several dtypes alone."""
    return Fault(name, optimizer, defect, run_as(kind), rejected_by=DTYPES)


enter(
    dtypes_fault(
        "state_in_the_dtype_of_the_first", "momentum", "every state has the first parameter's dtype", _StateOfTheFirst
    ),
    dtypes_fault(
        "gradients_in_the_dtype_of_the_first",
        "rmsprop",
        "gradients are copied into one buffer, of the first one's dtype, as a multi-tensor kernel does",
        _GradientsOfTheFirst,
    ),
    dtypes_fault(
        "first_dtype_alone_is_stepped", "sgd", "a loop over dtypes that returns behind the first", FirstDtypeAlone
    ),
    dtypes_fault(
        "steps_counted_once_a_dtype", "adam", "a loop over dtypes that advances one count each time", _CountsEachDtype
    ),
    dtypes_fault(
        "decayed_once_a_dtype",
        "papers.adamw",
        "a loop over dtypes in which all parameters decay each time",
        DecaysOncePerDtype,
    ),
)
