"""Gradient clips, in place: by value, by the norm of each gradient, by the norm of all gradients together.

A clip is bound to the arrays that gradients are written to, step after step. Norms are summed in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.inplace import InPlace, Options, zeros
from optimetry.accelerated.kernels.kernel import PARAM, Kernel, Pass, Rate, Real, measuring
from optimetry.reference.clips import GradientClipByGlobalNorm, GradientClipByNorm, GradientClipByValue
from optimetry.reference.errors import ArrayError


def between(g: Real, low: Real, high: Real) -> tuple[Real]:
    """``min(max(g, low), high)``."""
    return (np.minimum(np.maximum(g, low), high),)


def scaled(g: Real, factor: Real) -> tuple[Real]:
    """``g factor``."""
    return (g * factor,)


BETWEEN_CUDA = """
    g = g < low ? low : g;
    g = g > high ? high : g;
"""
"""Comparisons with NaN are false, so NaN stays."""

SCALED_CUDA = "g = g * factor;"
JOINT_FACTOR = "limit / (norm <= limit ? limit : norm)"
"""``c / max(c, norm)``: if the norm is NaN, the comparison is false, and the factor is NaN."""

OWN_FACTOR = "norm > limit ? limit / norm : 1"
"""``c / norm`` if that is below 1: a gradient whose norm is NaN is left as it is, as the document's comparison says."""


def scaling(limit: float, joint: bool) -> Kernel:
    """Return the kernel that measures, then scales what is above the limit."""

    def scalars(lr: float, t: Real, norm: Real) -> tuple[Real]:
        if joint:
            return (limit / np.maximum(limit, np.sqrt(np.sum(np.square(norm)))),)
        return (np.where(norm > limit, limit / norm, 1.0),)

    rate = Rate(JOINT_FACTOR if joint else OWN_FACTOR, {"limit": limit}, joint)
    update = Pass(scaled, (PARAM,), (PARAM,), scalars, cuda=SCALED_CUDA, rate=rate)
    return Kernel((measuring(PARAM), update))


class _Clip(InPlace):
    """Gradients, and the kernel that clips them."""

    def __init__(self, label: str, grads: Sequence[Array], kernel: Kernel, **options: Unpack[Options]) -> None:
        super().__init__(label, grads, {"clip": kernel}, zeros(), noun="gradient", **options)

    def clip(self) -> None:
        """Clip the arrays."""
        self._run("clip")


class ClipByValue(_Clip):
    """Gradients with every element moved to the nearest number of an interval.

    Args:
        grads: the arrays that are clipped, as `InPlace` takes them.
        max: the upper end.
        min: the lower end; None means ``-max``.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place.
    """

    def __init__(
        self,
        grads: Sequence[Array],
        max: float,  # noqa: A002 - the documented names
        min: float | None = None,  # noqa: A002
        **options: Unpack[Options],
    ) -> None:
        ends = GradientClipByValue(max, min)
        pass_ = Pass(between, (PARAM,), (PARAM,), lambda lr, t: (ends.min, ends.max), BETWEEN_CUDA)
        super().__init__("clip_by_value", grads, Kernel((pass_,)), **options)


class ClipByNorm(_Clip):
    """Gradients, each scaled to a limit where its norm is above.

    Args:
        grads: the arrays that are clipped, as `InPlace` takes them.
        clip_norm: the limit.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place.
    """

    def __init__(self, grads: Sequence[Array], clip_norm: float, **options: Unpack[Options]) -> None:
        kernel = scaling(GradientClipByNorm(clip_norm).clip_norm, joint=False)
        super().__init__("clip_by_norm", grads, kernel, **options)


class ClipByGlobalNorm(_Clip):
    """Gradients that are all scaled alike, so that the norm of all together is at most a limit.

    Args:
        grads: the arrays that are clipped, all of one dtype, as `InPlace` takes them.
        clip_norm: the limit.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place, or several dtypes.
    """

    def __init__(self, grads: Sequence[Array], clip_norm: float, **options: Unpack[Options]) -> None:
        kernel = scaling(GradientClipByGlobalNorm(clip_norm).clip_norm, joint=True)
        super().__init__("clip_by_global_norm", grads, kernel, **options)
        if len(self._groups) > 1:
            names = sorted(group.arena.dtypes.name for group in self._groups)
            raise ArrayError(f"clip_by_global_norm: gradients of {', '.join(names)}, must be of one dtype")
