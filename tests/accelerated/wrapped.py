"""The accelerated wrappers for tests of engines: how each is made and run, and the kernels it consists of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from optimetry.accelerated.averaging import Averaged, ExponentialMovingAverage, ModelAverage
from optimetry.accelerated.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.regularizers import L1Decay, L2Decay
from tests.accelerated.cases import arrays, copies

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
    return list(WRAPPED[name]([np.ones(1)], engine="numpy")._kernels.values())


def results(name: str, inputs: list[Array], read: list[Array], **engine: Any) -> list[Array]:
    """Everything that a wrapper computes from its input arrays; a regularizer and an average also read ``read``.

    The results are NumPy arrays, whatever the device.
    """
    made = WRAPPED[name](inputs, **engine)
    device, own, outputs = made.device, made.arrays, []

    def keep() -> None:
        outputs.extend(device.copied(array) for array in own)

    if not isinstance(made, Averaged):
        made.regularize(read) if hasattr(made, "regularize") else made.clip()
        keep()
        return outputs
    values = [device.copied(array) for array in read]
    for _ in range(7):
        made.update()
        for array, value in zip(own, values, strict=True):
            device.assign(array, value)
    for change in (made.apply, made.restore):
        change()
        keep()
    state = made.state_dict()
    return [*outputs, *(array for slot in made.slots for array in state[slot])]


def on_host(name: str, dtype: str, engine: str, **options: Any) -> list[Array]:
    """The results of a wrapper on the arrays of the engine tests."""
    return results(name, copies(arrays(dtype, 0)), arrays(dtype, 1), engine=engine, **options)


def reordered(name: str, inputs: list[Array]) -> list[float]:
    """How far a clip of doubles by their norm may be from one that sums in another order, relative to each array.

    A rounding is a factor ``1 + d`` with ``|d| <= u = 2**-53``; in logarithms it is at most ``-log(1 - u)``, roundings
    add up, and a root halves. Each of n squares is rounded once and takes part in at most n - 1 additions, in whatever
    order: n/2 roundings in the norm. Its root, the quotient and the product are three more. Who sums array by array for
    the joint norm takes a root of each sum and squares it: three more below the joint root, as the square doubles the
    root's. Either clip may err so, in opposite directions.
    """
    sizes, parts = [array.size for array in inputs], 0
    if name == "clip_by_global_norm":
        sizes, parts = [sum(sizes)] * len(sizes), 3
    return [math.expm1(-2 * ((size + parts) / 2 + 3) * math.log1p(-(2.0**-53))) for size in sizes]


def assert_reordered(name: str, ours: list[Array], must: list[Array]) -> None:
    """The results of a clip are apart by no more than the order of its sums explains."""
    for array, wanted, bound in zip(ours, must, reordered(name, must), strict=True):
        assert np.all(np.abs(array - wanted) <= bound * np.abs(wanted))
