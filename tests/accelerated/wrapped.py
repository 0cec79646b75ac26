"""The accelerated wrappers for tests of engines: how each is made and run, and the kernels it consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from optimetry.accelerated.averaging import Averaged, ExponentialMovingAverage, ModelAverage
from optimetry.accelerated.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.regularizers import L1Decay, L2Decay
from tests.accelerated.cases import Array, arrays, copies

WRAPPED: Mapping[str, Callable[..., Any]] = {
    "clip_by_value": lambda grads, **engine: ClipByValue(grads, 1.5, -0.3, **engine),
    "clip_by_norm": lambda grads, **engine: ClipByNorm(grads, 2.5, **engine),
    "clip_by_global_norm": lambda grads, **engine: ClipByGlobalNorm(grads, 2.5, **engine),
    "l1_decay": lambda grads, **engine: L1Decay(grads, 0.3, **engine),
    "l2_decay": lambda grads, **engine: L2Decay(grads, 0.3, **engine),
    "exponential_moving_average": lambda arrays, **engine: ExponentialMovingAverage(arrays, 0.9, **engine),
    "model_average": lambda arrays, **engine: ModelAverage(arrays, 0.5, 2, 3, fold=2, **engine),
}

NORMS = ("clip_by_norm", "clip_by_global_norm")
"""Those whose sums have an order of their own."""


def kernels(name: str) -> list[Kernel]:
    """Every kernel of a wrapper."""
    return list(WRAPPED[name]([np.ones(1)], engine="numpy")._sweep.kernels.values())


def results(name: str, given: list[Array], read: list[Array], **engine: Any) -> list[Array]:
    """All that a wrapper makes of arrays, one of which has other values each time; ``read`` is what is added.

    They are NumPy arrays, on whatever device it works.
    """
    made = WRAPPED[name](given, **engine)
    device, own, found = made._sweep.device, made._sweep.arrays, []

    def keep() -> None:
        found.extend(device.copied(array) for array in own)

    if not isinstance(made, Averaged):
        made.regularize(read) if hasattr(made, "regularize") else made.clip()
        keep()
        return found
    values = [device.copied(array) for array in read]
    for _ in range(7):
        made.update()
        for array, value in zip(own, values, strict=True):
            device.assign(array, value)
    for change in (made.apply, made.restore):
        change()
        keep()
    state = made.state_dict()
    return [*found, *(array for slot in made.slots for array in state[slot])]


def on_host(name: str, dtype: str, engine: str, **options: Any) -> list[Array]:
    """What a wrapper makes of the arrays of the tests of engines."""
    return results(name, copies(arrays(dtype, 0)), arrays(dtype, 1), engine=engine, **options)
