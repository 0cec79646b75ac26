"""Runs of Paddle's clips (``paddle.nn``), regularizers (``paddle.regularizer``) and averages of parameters.

A clip is called as an optimizer calls it. The result of a regularizer, behind a clip or not, is read from the velocity
of `Momentum` after one step, which no learning rate has scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.offers import FLOATS, OnKernels
from optimetry.conformance.targets.paddle.library import paddle
from optimetry.conformance.targets.paddle.rules import array_of, tensor

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class Clip(OnKernels):
    """A clip on its own."""

    framework = "paddle"
    cls: Any
    arguments: tuple[str, ...]
    """Documented hyperparameters, in the order of the class's arguments."""
    dtypes: tuple[str, ...] = FLOATS

    def made(self, hyper: Hyper) -> Any:
        """The clip."""
        return self.cls(*(hyper[name] for name in self.arguments))

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Clipping:
        """Begin a run."""
        return Clipping(self.made(hyper), parameters)


@dataclass(frozen=True)
class Decay(OnKernels):
    """A regularizer, behind a clip or not."""

    framework = "paddle"
    cls: Any
    strength: str
    """The documented hyperparameter that it takes."""
    behind: Clip | None = None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Decaying:
        """Begin a run."""
        clip = self.behind.made(hyper) if self.behind else None
        return Decaying(lambda: {"weight_decay": self.cls(hyper[self.strength]), "grad_clip": clip}, parameters)


@dataclass(frozen=True)
class Average(OnKernels):
    """An average of parameters."""

    framework = "paddle"
    cls: Any
    arguments: tuple[str, ...]
    """Documented hyperparameters, in the order of the class's first arguments."""
    named: tuple[str, ...]
    """Those passed under their own names."""

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Averaging:
        """Begin a run."""
        first, named = [hyper[name] for name in self.arguments], {name: hyper[name] for name in self.named}
        return Averaging(lambda held: self.cls(*first, parameters=held, **named), parameters)


class Clipping:
    """A clip, called with pairs of parameters and gradients."""

    def __init__(self, clip: Any, parameters: Sequence[Array]) -> None:
        self._clip = clip
        self._parameters = [tensor(array, trainable=True) for array in parameters]

    def transform(self, grads: list[Array]) -> list[Array]:
        """What the clip returns for pairs of parameters and gradients."""
        pairs = self._clip(list(zip(self._parameters, [tensor(grad) for grad in grads], strict=True)))
        return [array_of(grad) for _, grad in pairs]


class Decaying:
    """A regularizer, behind a clip if there is one, inside an optimizer."""

    def __init__(self, keywords: Callable[[], dict[str, Any]], parameters: Sequence[Array]) -> None:
        self._keywords = keywords
        self._parameters = [tensor(array, trainable=True) for array in parameters]

    def transform(self, grads: list[Array]) -> list[Array]:
        """The velocity of the first step."""
        optimizer = paddle.optimizer.Momentum(
            learning_rate=0.0, momentum=0.0, parameters=self._parameters, **self._keywords()
        )
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = tensor(grad)
        optimizer.step()
        held = optimizer.state_dict()
        slots = [f"{parameter.name}_velocity_" for parameter in self._parameters]
        velocities = [next((held[key] for key in held if key.startswith(slot)), None) for slot in slots]
        # Paddle 2 gives a parameter without elements no velocity.
        pairs = zip(velocities, self._parameters, strict=True)
        return [array_of(parameter if velocity is None else velocity) for velocity, parameter in pairs]


class Averaging:
    """An average of parameters, over parameters of its own."""

    def __init__(self, make: Callable[[list[Any]], Any], parameters: Sequence[Array]) -> None:
        self._parameters = [paddle.create_parameter(list(array.shape), array.dtype.name) for array in parameters]
        self._average = make(self._parameters)
        for parameter, array in zip(self._parameters, parameters, strict=True):
            parameter.grad = tensor(np.zeros_like(array))  # a step passes over parameters that have no gradient

    def update(self, parameters: list[Array]) -> None:
        """``step`` with these parameters."""
        for parameter, array in zip(self._parameters, parameters, strict=True):
            parameter.set_value(array)
        self._average.step()

    def apply(self) -> list[Array]:
        """``apply``, not to be restored at its end."""
        with self._average.apply(need_restore=False):
            return [array_of(parameter) for parameter in self._parameters]

    def restore(self) -> list[Array]:
        """``restore``."""
        self._average.restore()
        return [array_of(parameter) for parameter in self._parameters]
