"""Gradient clips, in place: by value, by the norm of each gradient, by the norm of all gradients together.

A clip is bound to the arrays that gradients are written to, step after step. Norms are summed in float64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimetry.accelerated.formats import Array
from optimetry.accelerated.kernels.kernel import PARAM, Kernel, Number, Pass
from optimetry.accelerated.sweeps import Sweep
from optimetry.reference.clips import GradientClipByGlobalNorm, GradientClipByNorm, GradientClipByValue
from optimetry.reference.errors import ArrayError


def between(g: Number, low: Number, high: Number) -> tuple[Number]:
    """``min(max(g, low), high)``."""
    return (np.minimum(np.maximum(g, low), high),)


def measured(g: Number) -> tuple[Number]:
    """What the norm is of."""
    return (g,)


def scaled(g: Number, factor: Number) -> tuple[Number]:
    """``g factor``."""
    return (g * factor,)


def _scaling(limit: float, joint: bool) -> Kernel:
    """Measure, then scale by ``c / max(c, norm)``."""

    def scalars(lr: float, t: Number, norms: Number) -> tuple[Number]:
        size = np.sqrt(np.sum(np.square(norms))) if joint else norms
        return (limit / np.maximum(limit, size),)

    measure = Pass(measured, (PARAM,), (), lambda lr, t: (), sums=1)
    return Kernel((measure, Pass(scaled, (PARAM,), (PARAM,), scalars)))


class ClipByValue:
    """Every element moved to the nearest number of an interval.

    Args:
        grads: the arrays that are clipped, as `Sweep` takes them.
        max: the upper end.
        min: the lower end; None means ``-max``.
        engine: see `Sweep`.
        threads: see `Sweep`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place.
    """

    def __init__(
        self,
        grads: Sequence[Array],
        max: float,  # noqa: A002 - the documented names
        min: float | None = None,  # noqa: A002
        *,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        ends = GradientClipByValue(max, min)
        one = Pass(between, (PARAM,), (PARAM,), lambda lr, t: (ends.min, ends.max))
        self._sweep = Sweep("clip_by_value", grads, {"clip": Kernel((one,))}, engine=engine, threads=threads)

    def clip(self) -> None:
        """Clip what is in the arrays."""
        self._sweep.run("clip")


class ClipByNorm:
    """Each gradient whose norm is above a limit scaled to that norm.

    Args:
        grads: the arrays that are clipped, as `Sweep` takes them.
        clip_norm: the limit.
        engine: see `Sweep`.
        threads: see `Sweep`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place.
    """

    def __init__(
        self, grads: Sequence[Array], clip_norm: float, *, engine: str = "auto", threads: int | None = None
    ) -> None:
        kernel = _scaling(GradientClipByNorm(clip_norm).clip_norm, joint=False)
        self._sweep = Sweep("clip_by_norm", grads, {"clip": kernel}, engine=engine, threads=threads)

    def clip(self) -> None:
        """Clip what is in the arrays."""
        self._sweep.run("clip")


class ClipByGlobalNorm:
    """All gradients scaled alike, so that the norm of all together is at most a limit.

    Args:
        grads: the arrays that are clipped, all of one dtype, as `Sweep` takes them.
        clip_norm: the limit.
        engine: see `Sweep`.
        threads: see `Sweep`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place, or several dtypes.
    """

    def __init__(
        self, grads: Sequence[Array], clip_norm: float, *, engine: str = "auto", threads: int | None = None
    ) -> None:
        kernel = _scaling(GradientClipByGlobalNorm(clip_norm).clip_norm, joint=True)
        self._sweep = Sweep("clip_by_global_norm", grads, {"clip": kernel}, engine=engine, threads=threads)
        dtypes = sorted({grad.dtype.name for grad in grads})
        if len(dtypes) > 1:
            raise ArrayError(f"clip_by_global_norm: gradients of {', '.join(dtypes)}, must be of one dtype")

    def clip(self) -> None:
        """Clip what is in the arrays."""
        self._sweep.run("clip")
