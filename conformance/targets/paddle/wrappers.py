"""Paddle's clips (``paddle.nn``), regularizers (``paddle.regularizer``) and ``paddle.incubate.ModelAverage``.

A clip is called as an optimizer calls it. What a regularizer makes of a gradient, behind a clip or not, shows in the
velocity of `Momentum` after one step: there it stands before any learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import paddle
from paddle.incubate import ModelAverage

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.paddle.target import array_of, tensor
from optimetry.conformance.targets.protocol import Hyper

ABSENT: Mapping[str, str] = {
    "dgc_compress": "paddle has no CPU kernel for dgc_compress",
    "exponential_moving_average": "paddle.static.ExponentialMovingAverage cannot be built: it raises TypeError in the "
    "graphs of Paddle 3, and refuses to work outside graphs",
}

CLIPS: Mapping[str, Callable[[Hyper], Any]] = {
    "clip_by_value": lambda hyper: paddle.nn.ClipGradByValue(hyper["max"], hyper["min"]),
    "clip_by_norm": lambda hyper: paddle.nn.ClipGradByNorm(hyper["clip_norm"]),
    "clip_by_global_norm": lambda hyper: paddle.nn.ClipGradByGlobalNorm(hyper["clip_norm"]),
    "clip_then_decay": lambda hyper: paddle.nn.ClipGradByGlobalNorm(hyper["clip_norm"]),
}
REGULARIZERS: Mapping[str, Any] = {
    "l1_decay": paddle.regularizer.L1Decay,
    "l2_decay": paddle.regularizer.L2Decay,
    "clip_then_decay": paddle.regularizer.L2Decay,
}
FLOATS = ("float32", "float64")


def unsupported(wrapper: str, hyper: Hyper, dtype: str) -> str | None:
    """Why Paddle does not offer this wrapper in this dtype."""
    if wrapper in ABSENT:
        return ABSENT[wrapper]
    if dtype not in (("float32",) if wrapper == "clip_by_norm" else FLOATS):
        return f"paddle has no {dtype} CPU kernel for {wrapper}"
    return None


class Clip:
    """A clip on its own."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._clip = CLIPS[wrapper](hyper)
        self._parameters = [tensor(array, trainable=True) for array in parameters]

    def transform(self, grads: list[Array]) -> list[Array]:
        """What the clip returns for pairs of parameters and gradients."""
        pairs = self._clip(list(zip(self._parameters, [tensor(grad) for grad in grads], strict=True)))
        return [array_of(grad) for _, grad in pairs]


class Regularizer:
    """A regularizer, behind a clip if there is one, inside an optimizer."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._parameters = [tensor(array, trainable=True) for array in parameters]
        self._make: Callable[[], Any] = lambda: paddle.optimizer.Momentum(
            learning_rate=0.0,
            momentum=0.0,
            parameters=self._parameters,
            weight_decay=REGULARIZERS[wrapper](hyper["regularization_coeff"]),
            grad_clip=CLIPS[wrapper](hyper) if wrapper in CLIPS else None,
        )

    def transform(self, grads: list[Array]) -> list[Array]:
        """The velocity of the first step."""
        optimizer = self._make()
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = tensor(grad)
        optimizer.step()
        held = optimizer.state_dict()
        names = [f"{parameter.name}_velocity_" for parameter in self._parameters]
        return [array_of(next(held[key] for key in held if key.startswith(name))) for name in names]


class Average:
    """``paddle.incubate.ModelAverage``."""

    def __init__(self, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._parameters = [paddle.create_parameter(list(array.shape), array.dtype.name) for array in parameters]
        self._average = ModelAverage(
            hyper["average_window_rate"],
            parameters=self._parameters,
            min_average_window=hyper["min_average_window"],
            max_average_window=hyper["max_average_window"],
        )
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


def start(wrapper: str, hyper: Hyper, parameters: Sequence[Array]) -> Clip | Regularizer | Average:
    """Begin a run of a wrapper."""
    for array in parameters:
        reason = unsupported(wrapper, hyper, array.dtype.name)
        if reason is not None:
            raise ValueError(f"{wrapper}: {reason}")
    if wrapper == "model_average":
        return Average(hyper, parameters)
    return (Regularizer if wrapper in REGULARIZERS else Clip)(wrapper, hyper, parameters)
