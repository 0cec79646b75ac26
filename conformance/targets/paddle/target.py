"""PaddlePaddle as a target: the dygraph classes of ``paddle.optimizer`` and, where no class exists, the bare operator.

``RULES`` is the whole mapping. Paddle names its hyperparameters as the documents do, so they are passed by name.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.conformance.numerics.arrays import Array

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing ccache, of no concern here
    import paddle
    from paddle.incubate.optimizer import LarsMomentumOptimizer

from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.protocol import AverageRun, GradientRun, Hyper

paddle.set_device("cpu")

FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class PaddleClass:
    """A rule that an optimizer class computes."""

    cls: Any
    arguments: tuple[str, ...] = ()
    """Documented hyperparameters, passed to the class under their own names."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Slot -> the accumulator's name in ``state_dict()``."""
    dtypes: tuple[str, ...] = FLOATS
    """Parameter dtypes with a CPU kernel."""
    none_if_zero: tuple[str, ...] = ()
    """Arguments for which Paddle says None where the documents say 0."""
    parameters: str = "parameters"
    """The keyword of the parameter list."""


@dataclass(frozen=True)
class PaddleOperator:
    """A rule without a dygraph class: ``call(parameter, grad, slots, lr, hyper)`` gives parameter and slots anew."""

    call: Callable[[Any, Any, list[Any], Any, Hyper], tuple[Any, ...]]
    slots: tuple[str, ...]
    dtypes: tuple[str, ...]


def _decayed_adagrad(parameter: Any, grad: Any, slots: list[Any], lr: Any, hyper: Hyper) -> tuple[Any, ...]:
    outputs = paddle._C_ops.decayed_adagrad(parameter, grad, *slots, lr, hyper["decay"], hyper["epsilon"])
    return tuple(outputs)


def _ftrl(parameter: Any, grad: Any, slots: list[Any], lr: Any, hyper: Hyper) -> tuple[Any, ...]:
    outputs = paddle._C_ops.ftrl(parameter, *slots, grad, lr, hyper["l1"], hyper["l2"], hyper["lr_power"])
    return tuple(outputs)


RULES: Mapping[str, PaddleClass | PaddleOperator] = {
    "sgd": PaddleClass(paddle.optimizer.SGD, dtypes=("bfloat16", *FLOATS)),
    "momentum": PaddleClass(paddle.optimizer.Momentum, ("momentum", "use_nesterov"), slots={"velocity": "velocity"}),
    # paddle._C_ops.lars_momentum_ takes static-graph values only; this class is the dygraph way to the same kernel.
    "lars_momentum": PaddleClass(
        LarsMomentumOptimizer,
        ("momentum", "lars_coeff", "lars_weight_decay"),
        slots={"velocity": "velocity"},
        parameters="parameter_list",
    ),
    "adagrad": PaddleClass(
        paddle.optimizer.Adagrad, ("epsilon", "initial_accumulator_value"), slots={"moment": "moment"}
    ),
    "decayed_adagrad": PaddleOperator(_decayed_adagrad, slots=("moment",), dtypes=("float32",)),
    "adadelta": PaddleClass(
        paddle.optimizer.Adadelta,
        ("epsilon", "rho"),
        slots={"avg_squared_grad": "_avg_squared_grad", "avg_squared_update": "_avg_squared_update"},
    ),
    "adam": PaddleClass(
        paddle.optimizer.Adam,
        ("beta1", "beta2", "epsilon", "lazy_mode"),
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "adamax": PaddleClass(
        paddle.optimizer.Adamax, ("beta1", "beta2", "epsilon"), slots={"moment": "moment", "inf_norm": "inf_norm"}
    ),
    "rmsprop": PaddleClass(
        paddle.optimizer.RMSProp,
        ("rho", "epsilon", "momentum", "centered"),
        slots={"mean_square": "mean_square", "mean_grad": "mean_grad", "velocity": "momentum"},
    ),
    "ftrl": PaddleOperator(_ftrl, slots=("squared_accum", "linear_accum"), dtypes=("float32",)),
    "lamb": PaddleClass(
        paddle.optimizer.Lamb,
        ("lamb_weight_decay", "beta1", "beta2", "epsilon"),
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "asgd": PaddleClass(
        paddle.optimizer.ASGD,
        ("batch_num", "weight_decay"),
        slots={"d": "d", "history": "y"},
        none_if_zero=("weight_decay",),
    ),
}


class PaddleTarget:
    """``paddle.optimizer`` in dygraph mode on the CPU."""

    name = "paddle"
    version = str(paddle.__version__).split("+")[0]

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Why Paddle does not offer this rule or wrapper in this dtype."""
        if optimizer in WRAPPERS:
            from optimetry.conformance.targets.paddle import wrappers as wrapped

            return wrapped.unsupported(optimizer, hyper, dtype)
        if optimizer not in RULES:
            return f"no class or operator of paddle is known for {optimizer}"
        if dtype not in RULES[optimizer].dtypes:
            return f"paddle has no {dtype} CPU kernel for {optimizer}"
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> ClassRun | OperatorRun:
        """Begin a run on copies of ``parameters``; raises ValueError with the reason where none is offered.

        The check matters: for an empty tensor Paddle looks up no kernel and would appear to support the dtype.
        """
        for parameter in parameters:
            reason = self.unsupported(optimizer, hyper, parameter.dtype.name)
            if reason is not None:
                raise ValueError(f"{optimizer}: {reason}")
        rule = RULES[optimizer]
        return (
            ClassRun(rule, hyper, parameters) if isinstance(rule, PaddleClass) else OperatorRun(rule, hyper, parameters)
        )

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> GradientRun | AverageRun:
        """Begin a run of a clip, a regularizer or an average; raises ValueError where none is offered."""
        from optimetry.conformance.targets.paddle import wrappers as wrapped

        return wrapped.start(wrapper, hyper, parameters)


class ClassRun:
    """One optimizer class over dygraph tensors."""

    def __init__(self, rule: PaddleClass, hyper: Hyper, parameters: list[Array]) -> None:
        keywords = {
            name: None if name in rule.none_if_zero and hyper[name] == 0 else hyper[name]
            for name in rule.arguments
            if name in hyper
        }
        self._slots = rule.slots
        self._parameters = [tensor(parameter, trainable=True) for parameter in parameters]
        self._optimizer = rule.cls(learning_rate=0.0, **{rule.parameters: self._parameters}, **keywords)
        self._quiet = any(parameter.dtype == ml_dtypes.bfloat16 for parameter in parameters)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One ``Optimizer.step``; a None gradient becomes ``parameter.grad = None``."""
        self._optimizer.set_lr(float(learning_rate))
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = None if grad is None else tensor(grad)
        with warnings.catch_warnings() if self._quiet else contextlib.nullcontext():
            if self._quiet:  # each step advises float32 master weights, which is not what is asked for here
                warnings.filterwarnings("ignore", message="Accumulating with FP16")
            self._optimizer.step()
        return [array_of(parameter) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """The accumulators, once every parameter has had a gradient; empty before.

        ``history`` has one leading axis of length batch_num more than the parameter.
        """
        held = self._optimizer.state_dict()
        found = {
            slot: [held.get(f"{parameter.name}_{accumulator}_0") for parameter in self._parameters]
            for slot, accumulator in self._slots.items()
        }
        return {
            slot: [array_of(value) for value in values]
            for slot, values in found.items()
            if all(value is not None for value in values)
        }


class OperatorRun:
    """One operator, called for each parameter that has a gradient."""

    def __init__(self, rule: PaddleOperator, hyper: Hyper, parameters: list[Array]) -> None:
        self._rule = rule
        self._hyper = hyper
        self._parameters = [tensor(parameter) for parameter in parameters]
        self._states = [[tensor(np.zeros_like(parameter)) for _ in rule.slots] for parameter in parameters]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One call of the operator for each parameter whose gradient is not None."""
        lr = paddle.to_tensor(float(learning_rate), dtype="float32")
        for index, grad in enumerate(grads):
            if grad is not None:
                self._parameters[index], *self._states[index] = self._rule.call(
                    self._parameters[index], tensor(grad), self._states[index], lr, self._hyper
                )
        return [array_of(parameter) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """The operator's slots."""
        return {
            slot: [array_of(state[position]) for state in self._states]
            for position, slot in enumerate(self._rule.slots)
        }


def tensor(array: Array, trainable: bool = False) -> Any:
    """A copy of ``array`` as a tensor. Paddle takes NumPy's uint16 for the bits of bfloat16."""
    bits = array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array
    return paddle.to_tensor(bits, stop_gradient=not trainable)


def array_of(tensor: Any) -> Array:
    """A fresh NumPy copy of ``tensor``."""
    array: Array = np.array(tensor.numpy())
    return array.view(ml_dtypes.bfloat16) if tensor.dtype == paddle.bfloat16 else array


target = PaddleTarget()
