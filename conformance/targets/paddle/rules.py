"""Runs of Paddle's optimizers: dygraph classes and, where no class exists, the bare operator.

Needs Paddle and NumPy alone, so that `--python` judges another release; ml_dtypes is for bfloat16.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.offers import FLOATS, ClassOffer, OnKernels
from optimetry.conformance.targets.paddle.library import VERSION, paddle

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper

NARROW = "bfloat16"


@cache
def known_to(name: str) -> Collection[str] | None:
    """Return the arguments of the class of this name, None where this release has no such class."""
    try:
        return inspect.signature(attrgetter(name)(paddle)).parameters
    except AttributeError:
        return None


@dataclass(frozen=True)
class PaddleClass(OnKernels, ClassOffer):
    """Maps one documented rule to a class, named from ``paddle`` on, which a release may lack, and its arguments."""

    framework = "paddle"
    dtypes: tuple[str, ...] = FLOATS
    """Parameter dtypes with a CPU kernel."""
    none_if_zero: tuple[str, ...] = ()
    """Arguments for which Paddle takes None where the documents say 0."""
    parameters: str = "parameters"
    """The keyword of the parameter list."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why not in this release or this dtype; an empty tensor needs no kernel, but is refused as others.

        An argument that a release lacks may be left out where it would be 0 or False.
        """
        name, known = self.cls.rpartition(".")[2], known_to(self.cls)
        if known is None:
            return f"paddle {VERSION} has no {name}"
        asked = [argument for argument, value in self.keywords(hyper).items() if value and argument not in known]
        if asked:
            return f"{name} of paddle {VERSION} has no {', '.join(asked)}"
        return super().refusal(subject, hyper, dtype, engine)

    def optimizer(self, hyper: Hyper, tensors: Sequence[Any], lr: float) -> Any:
        """The optimizer over these tensors."""
        known = known_to(self.cls) or ()
        keywords = {argument: value for argument, value in self.keywords(hyper).items() if argument in known}
        keywords.update({name: None for name in self.none_if_zero if hyper[name] == 0})
        return attrgetter(self.cls)(paddle)(learning_rate=lr, **{self.parameters: tensors}, **keywords)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> ClassRun:
        """Begin a run."""
        return ClassRun(self, hyper, parameters)


@dataclass(frozen=True)
class PaddleOperator(OnKernels):
    """A rule without a dygraph class: ``call(parameter, grad, slots, lr, hyper)`` gives parameter and slots anew."""

    framework = "paddle"
    call: Callable[[Any, Any, list[Any], Any, Hyper], Sequence[Any]]
    slots: tuple[str, ...]
    dtypes: tuple[str, ...]

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> OperatorRun:
        """Begin a run."""
        return OperatorRun(self, hyper, parameters)


class ClassRun:
    """One optimizer class over dygraph tensors."""

    def __init__(self, rule: PaddleClass, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._slots = rule.slots
        self._parameters = [tensor(parameter, trainable=True) for parameter in parameters]
        self._optimizer = rule.optimizer(hyper, self._parameters, 0.0)
        self._quiet = any(parameter.dtype.name == NARROW for parameter in parameters)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One ``Optimizer.step``; a parameter whose gradient is None has none, rather than zeros."""
        self._optimizer.set_lr(float(learning_rate))
        for parameter, grad in zip(self._parameters, grads, strict=True):
            if grad is None:
                parameter.clear_gradient(False)  # Paddle 2 takes no None for ``grad``, and no keyword here
            else:
                parameter.grad = tensor(grad)
        with warnings.catch_warnings() if self._quiet else contextlib.nullcontext():
            if self._quiet:  # each step advises float32 master weights, which are not judged here
                warnings.filterwarnings("ignore", message="Accumulating with FP16")
            self._optimizer.step()
        return [array_of(parameter) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """The accumulators, once every parameter has had a gradient; empty before.

        ``history`` has one leading axis of length batch_num more than the parameter.
        """
        held = self._optimizer.state_dict()
        accumulators = {
            slot: [held.get(f"{parameter.name}_{accumulator}_0") for parameter in self._parameters]
            for slot, accumulator in self._slots.items()
        }
        return {
            slot: [array_of(value) for value in values]
            for slot, values in accumulators.items()
            if all(value is not None for value in values)
        }


class OperatorRun:
    """One operator, called for each parameter that has a gradient."""

    def __init__(self, rule: PaddleOperator, hyper: Hyper, parameters: Sequence[Array]) -> None:
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
        """Return the operator's slots."""
        return {
            slot: [array_of(state[position]) for state in self._states]
            for position, slot in enumerate(self._rule.slots)
        }


def tensor(array: Array, trainable: bool = False) -> Any:
    """Copy ``array`` to a tensor. Paddle takes NumPy's uint16 for the bits of bfloat16."""
    bits = array.view(np.uint16) if array.dtype.name == NARROW else array
    return paddle.to_tensor(bits, stop_gradient=not trainable)


def array_of(tensor: Any) -> Array:
    """Copy ``tensor`` to a NumPy array."""
    array: Array = np.array(tensor.numpy())
    if tensor.dtype != paddle.bfloat16:
        return array
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)
