"""Gradient clips: by value, by the norm of each gradient, by the norm of all gradients together.

Documented: the argument ``grad_clip`` of pages 001, 002 and 003, which give each strategy two names.
Norms are taken over all elements; a sparse gradient is clipped as the dense one would be, its repeated rows summed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.reference.domains import real
from optimetry.reference.norms import norm
from optimetry.reference.precision import working
from optimetry.reference.rule import Array
from optimetry.reference.sparse import SparseRows


def clip_by_value(grads: Sequence[Array], low: Any, high: Any) -> list[Array]:
    """Move each element to the nearest number of ``[low, high]``."""
    return [np.minimum(np.maximum(grad, low), high) for grad in grads]


def clip_by_global_norm(grads: Sequence[Array], limit: Any) -> list[Array]:
    """Scale all gradients by one factor, so that the norm of all together is at most ``limit``."""
    if not grads:
        return []
    squares = [np.sum(np.square(grad), initial=0.0) for grad in grads]
    divisor = np.maximum(np.sqrt(sum(squares[1:], start=squares[0])), limit)
    return [grad * limit / divisor for grad in grads]


class GradientClipBase(ABC):
    """The base of every clip.

    Attributes:
        joint: whether one gradient's result depends on the others.
    """

    joint = False

    def clipped(self, grads: Sequence[Array | SparseRows]) -> list[Any]:
        """The clipped gradients, in their dtypes; the arguments are not changed."""
        merged = [grad.merged() if isinstance(grad, SparseRows) else grad for grad in grads]
        arrays = [working(grad.values if isinstance(grad, SparseRows) else grad) for grad in merged]
        with np.errstate(all="ignore"):
            results = self.clipped_arrays(arrays)
        dense = [np.asarray(result, dtype=grad.dtype) for grad, result in zip(merged, results, strict=True)]
        return [
            grad.with_values(result) if isinstance(grad, SparseRows) else result
            for grad, result in zip(merged, dense, strict=True)
        ]

    @abstractmethod
    def clipped_arrays(self, grads: Sequence[Array]) -> list[Array]:
        """The clipped gradients, all dense, in any kind of array that NumPy functions dispatch on."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class GradientClipByValue(GradientClipBase):
    """Clip every element to an interval.

    Args:
        max: the upper end.
        min: the lower end; None means ``-max``, which must then be positive.

    Raises:
        HyperparameterError: an end is no finite number, or the lower is above the upper.
    """

    def __init__(self, max: float, min: float | None = None) -> None:  # noqa: A002 - the documented names
        label = type(self).__name__
        self.max = real(label, "max", max, "(-inf, inf)" if min is not None else "(0, inf)")
        self.min = -self.max if min is None else real(label, "min", min, f"(-inf, {self.max}]")

    def clipped(self, grads: Sequence[Array | SparseRows]) -> list[Any]:
        """See `GradientClipBase.clipped`; a sparse gradient becomes dense where 0 is outside the interval."""
        moves_zeros = not self.min <= 0 <= self.max
        return super().clipped([g.dense() if moves_zeros and isinstance(g, SparseRows) else g for g in grads])

    def clipped_arrays(self, grads: Sequence[Array]) -> list[Array]:
        """Each element moved to the nearest number of the interval."""
        return clip_by_value(grads, self.min, self.max)


class GradientClipByNorm(GradientClipBase):
    r"""Scale each gradient whose norm is above a limit to that norm: :math:`g c / \|g\|` if :math:`\|g\| > c`.

    Args:
        clip_norm: the limit, in (0, inf).
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = real(type(self).__name__, "clip_norm", clip_norm, "(0, inf)")

    def clipped_arrays(self, grads: Sequence[Array]) -> list[Array]:
        """Each gradient scaled on its own."""
        return [np.where(norm(grad) > self.clip_norm, grad * self.clip_norm / norm(grad), grad) for grad in grads]


class GradientClipByGlobalNorm(GradientClipBase):
    r"""Scale all gradients alike, so that the norm of all together is at most a limit.

    .. math:: g_i \leftarrow \frac{g_i c}{\max(c, \|g\|)}

    Args:
        clip_norm: the limit :math:`c`, in (0, inf).
    """

    joint = True

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = real(type(self).__name__, "clip_norm", clip_norm, "(0, inf)")

    def clipped_arrays(self, grads: Sequence[Array]) -> list[Array]:
        """All gradients scaled by one factor."""
        return clip_by_global_norm(grads, self.clip_norm)


ClipGradByValue = GradientClipByValue
ClipGradByNorm = GradientClipByNorm
ClipGradByGlobalNorm = GradientClipByGlobalNorm
