"""Declares the floating-point formats that are judged, and the wider format in which each is judged.

Values stand in the wider format, quad precision beside float64. Bounds are float64 beside every format: they need few
digits, and quad precision takes a hundred times as long.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy_quaddtype import QuadPrecDType

from optimetry.reference.errors import OptimetryError

DOUBLE: np.dtype[Any] = np.dtype(np.float64)
QUAD: np.dtype[Any] = QuadPrecDType()

BOUND = DOUBLE
"""The dtype of bounds."""

Wide = Any
"""An ndarray of the dtype that is wider than a format's."""

Bound = Any
"""An ndarray of bounds."""

MARGIN = 1 + 2.0**-20
"""Enlarges every rounding term, to cover the rounding of the wide value, and of bounds beside narrower formats."""

BOUND_ROUNDOFF = float(np.finfo(BOUND).eps) / 2
"""The unit roundoff of bounds."""

BOUND_ROUNDINGS = 16
"""More than a bound loses in one operation, in unit roundoffs: one in each magnitude, and a few by rounding."""

SMALLEST = float(np.finfo(BOUND).smallest_subnormal)
"""The smallest bound but zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Format:
    """One binary floating-point format with round-to-nearest and gradual underflow.

    The constants that enter every operation are 0-d arrays, which NumPy multiplies by faster than by Python numbers.

    Attributes:
        name: its dtype name.
        dtype: the NumPy dtype of its arrays.
        wide: the dtype of the values that stand for exact ones, at least 29 bits wider.
        roundoff: the unit roundoff u, enlarged by `MARGIN`.
        tiny: the smallest subnormal, enlarged by `MARGIN`.
        smallest_normal: the smallest normal number.
        largest: the largest finite number.
        half_tiny: half the smallest subnormal, enlarged by `MARGIN`; of float64 the whole, as no bound is smaller.
        headroom: what a number times this overflows in float64, if it is more than `largest`.
        roundoff_after_headroom: u divided by ``headroom``, so that ``x * headroom * roundoff_after_headroom`` is u
            times x, or infinite where x overflows this format.
        flushes: whether a subnormal operand or result may become zero.
        rounds_inputs: whether arrays, which are of a wider format, may be rounded to it before anything else.
        combines: whether scalars held in it may be combined there before they meet an array.
        scalar_axes: the axes of what is one number: none, or one where the arrays of many cases stand side by side
            along their last axis, each with its own numbers.
    """

    name: str
    dtype: np.dtype[Any]
    wide: np.dtype[Any]
    roundoff: float
    tiny: float
    smallest_normal: float
    largest: float
    half_tiny: Any
    headroom: Any
    roundoff_after_headroom: Any
    flushes: bool = False
    rounds_inputs: bool = False
    combines: bool = False
    scalar_axes: int = 0

    def __repr__(self) -> str:
        return f"Format({self.name})"

    def growth(self, roundings: Any) -> Any:
        """Return the largest relative error of so many roundings, or of each number of them, one after the other."""
        return np.expm1(roundings * math.log1p(self.roundoff)) * MARGIN

    def holds(self, numbers: Any) -> bool:
        """Whether every number of an array is one of this format."""
        with np.errstate(all="ignore"):
            return np.array_equal(numbers.astype(self.dtype).astype(numbers.dtype), numbers, equal_nan=True)

    def nearest(self, value: Any) -> Any:
        """Round ``value`` to this format, as a wide array."""
        return np.asarray(value).astype(self.wide).astype(self.dtype).astype(self.wide)  # no quad becomes bfloat16


_finfo: Any = ml_dtypes.finfo  # which has no types


def _format(dtype: Any, wide: np.dtype[Any]) -> Format:
    info = _finfo(dtype)
    roundoff, largest = float(info.eps) / 2 * MARGIN, float(info.max)
    # Rounded down, so that `largest` itself does not overflow: what exceeds it by less than half an ulp rounds to it.
    headroom = np.asarray(np.finfo(BOUND).max / largest * (1 - 2.0**-50))
    return Format(
        name=np.dtype(dtype).name,
        dtype=np.dtype(dtype),
        wide=wide,
        roundoff=roundoff,
        tiny=float(info.smallest_subnormal) * MARGIN,
        smallest_normal=float(info.smallest_normal),
        largest=largest,
        half_tiny=np.asarray(max(float(info.smallest_subnormal) / 2 * MARGIN, SMALLEST)),
        headroom=headroom,
        roundoff_after_headroom=np.asarray(roundoff / headroom),
    )


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        _format(np.float16, DOUBLE),
        _format(ml_dtypes.bfloat16, DOUBLE),
        _format(np.float32, DOUBLE),
        _format(np.float64, QUAD),
    )
}
"""The judged formats by dtype name."""


def narrowest(numbers: Any) -> str | None:
    """Return the dtype of the narrowest format that holds all these numbers; None where only their own does.

    Args:
        numbers: an array; None for an empty one.
    """
    narrower = [form for form in FORMATS.values() if form.dtype.itemsize < numbers.dtype.itemsize]
    coarsest_first = sorted(narrower, key=lambda form: -form.roundoff) if numbers.size else []
    return next((form.name for form in coarsest_first if form.holds(numbers)), None)


def scalar_format(working: Format) -> Format:
    """Return the coarsest format in which an honest implementation holds scalars beside arrays of ``working``.

    Scalars are held in float32 beside float16 and bfloat16 arrays, where 0.999 would round to 1, and in the arrays' own
    format otherwise.
    """
    return FORMATS["float32"] if working.roundoff > FORMATS["float32"].roundoff else working


@cache
def flushing(form: Format) -> Format:
    """Return the format with flushed subnormals: a result may be off by up to the smallest normal."""
    return dataclasses.replace(form, half_tiny=np.asarray(form.smallest_normal), flushes=True)


@cache
def rounding_inputs(form: Format) -> Format:
    """Return the format for a computation whose inputs are of a wider one, and may be rounded first."""
    return dataclasses.replace(form, rounds_inputs=True)


@cache
def combining(form: Format) -> Format:
    """Return the format for scalars that are combined in it: their products, quotients and roots are rounded to it."""
    return dataclasses.replace(form, combines=True)


@cache
def side_by_side(form: Format) -> Format:
    """Return the format for the arrays of many cases, which stand side by side along their last axis."""
    return dataclasses.replace(form, scalar_axes=1)


@cache
def beside(narrow: Format, form: Format) -> Format:
    """Return a narrower format for what is computed in it beside numbers of another one."""
    return dataclasses.replace(narrow, wide=form.wide, scalar_axes=form.scalar_axes)


class NotAlikeError(OptimetryError):
    """Numbers of cases that stand side by side must be bounded by different formulas."""
