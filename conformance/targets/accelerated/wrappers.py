"""Runs of our accelerated clips, regularizers, averages and compression, in place on arrays of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.accelerated import averaging, clips, regularizers
from optimetry.accelerated.compression import Compression
from optimetry.accelerated.devices.device import device_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.numpy.wrappers import dense
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.distributed.dgc_momentum import Message

CLIPS: Mapping[str, Any] = {
    "clip_by_value": lambda grads, hyper, **engine: clips.ClipByValue(grads, hyper["max"], hyper["min"], **engine),
    "clip_by_norm": lambda grads, hyper, **engine: clips.ClipByNorm(grads, hyper["clip_norm"], **engine),
    "clip_by_global_norm": lambda grads, hyper, **engine: clips.ClipByGlobalNorm(grads, hyper["clip_norm"], **engine),
    "clip_then_decay": lambda grads, hyper, **engine: clips.ClipByGlobalNorm(grads, hyper["clip_norm"], **engine),
}
REGULARIZERS: Mapping[str, type[regularizers.L1Decay]] = {
    "l1_decay": regularizers.L1Decay,
    "l2_decay": regularizers.L2Decay,
    "clip_then_decay": regularizers.L2Decay,
}


class Gradients:
    """A clip, a regularizer, or one behind the other, over arrays that gradients are copied to."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array], engine: str, fmad: bool) -> None:
        self._device = device_of(engine, ())
        self._parameters = [self._device.given(np.array(array, order="C")) for array in parameters]
        self._grads = [self._device.given(np.zeros_like(array)) for array in parameters]
        clip, kind = CLIPS.get(wrapper), REGULARIZERS.get(wrapper)
        self._clip = clip(self._grads, hyper, engine=engine, fmad=fmad) if clip else None
        self._regularizer = kind(self._grads, hyper["regularization_coeff"], engine=engine, fmad=fmad) if kind else None

    def transform(self, grads: list[Array]) -> list[Array]:
        """Apply the wrapper, and return copies of the arrays."""
        for own, grad in zip(self._grads, grads, strict=True):
            self._device.assign(own, grad)
        if self._clip is not None:
            self._clip.clip()
        if self._regularizer is not None:
            self._regularizer.regularize(self._parameters)
        return [self._device.copied(grad) for grad in self._grads]


class Compressed:
    """DGC's compression; a message is an array with zeros for what is not sent."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array], engine: str, fmad: bool) -> None:
        self._device, self._sparsity = device_of(engine, ()), hyper["sparsity"]
        like = [self._device.given(np.array(array, order="C")) for array in parameters]
        self._worker = Compression(like, hyper["momentum"], hyper["use_nesterov"], engine=engine, fmad=fmad)

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return each gradient's message as an array."""
        arrays = [self._device.given(np.array(grad, order="C")) for grad in grads]
        messages = self._worker.compress(arrays, self._sparsity)
        here = [
            Message(self._device.copied(message.indices), self._device.copied(message.values)) for message in messages
        ]
        return [dense(message, grad) for message, grad in zip(here, grads, strict=True)]


class Average:
    """An average of arrays that parameters are copied to."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array], engine: str, fmad: bool) -> None:
        self._device = device_of(engine, ())
        self._parameters = [self._device.given(np.array(array, order="C")) for array in parameters]
        self._scheduled = bool(hyper.get("scheduled"))
        self._average: Any = (
            averaging.ExponentialMovingAverage(self._parameters, hyper["decay"], engine=engine, fmad=fmad)
            if "decay" in hyper
            else averaging.ModelAverage(self._parameters, **hyper, engine=engine, fmad=fmad)
        )

    def update(self, parameters: list[Array]) -> None:
        """``update`` of the average."""
        for own, array in zip(self._parameters, parameters, strict=True):
            self._device.assign(own, array)
        self._average.update(*([self._average.updates] if self._scheduled else []))

    def apply(self) -> list[Array]:
        """``apply``."""
        self._average.apply()
        return [self._device.copied(array) for array in self._parameters]

    def restore(self) -> list[Array]:
        """``restore``."""
        self._average.restore()
        return [self._device.copied(array) for array in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """``state_dict``."""
        return dict(self._average.state_dict())

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """``load_state_dict``."""
        self._average.load_state_dict(state)


OFFERS: Mapping[str, type[Gradients | Compressed | Average]] = {
    **dict.fromkeys((*CLIPS, *REGULARIZERS), Gradients),
    "dgc_compress": Compressed,
    "exponential_moving_average": Average,
    "model_average": Average,
}
"""Every wrapper that the backend offers."""
