"""Reads absolute values as float64, in which bounds are computed, whatever is wider.

NumPy takes as long to round a number of quad precision to float64 as to multiply it. Its bits are read in a tenth of
that: those of IEEE binary128, whose high word holds sign, exponent and 48 bits of the significand. Zeros, of which
there are many, and what is subnormal in float64 are read so as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST, Bound, Wide
from optimetry.conformance.numerics.widening import HIGH, REST, SHIFT, UNSIGNED

FIRST, NORMAL = np.uint64((16383 - 1022) << 48), np.uint64((2046 << 48) - 1)
"""The high word of the smallest normal double, and how many high words there are from there to the last of a double,
with which numbers may round to infinity."""

FIRST_OF_DOUBLES = np.uint64(1 << 52)

EXPONENT, BIAS = np.uint64(48), 16383
"""Where the exponent stands in a high word, and what is added to it there."""

FRACTION, ONE = np.uint64((1 << 52) - 1), np.uint64(1023 << 52)
"""The bits of the fraction of a double, and of the number 1."""


def magnitude_of(value: Wide) -> Bound:
    """Return absolute values as float64, of quad numbers truncated: within 2^-48 of what they are.

    Below the normal numbers of float64 they are within the smallest subnormal, and not zero unless the number is;
    infinite where float64 overflows.
    """
    if value.dtype != QUAD:
        return np.abs(value, out=...)
    flat = np.ascontiguousarray(value).reshape(-1)
    words = flat.view(np.uint64)
    high = words[HIGH::2] & UNSIGNED
    bits = high - FIRST
    normal = bits < NORMAL
    bits <<= SHIFT
    bits += FIRST_OF_DOUBLES
    magnitude = bits.view(BOUND)
    if np.count_nonzero(normal) < normal.size:
        low, not_zero = words[1 - HIGH :: 2], high != 0
        bits *= not_zero  # most of what is not normal is zero
        rest = np.flatnonzero((not_zero | (low != 0)) & ~normal)
        if rest.size:
            magnitude[rest] = _beside_normal(flat[rest], high[rest], low[rest])
    return magnitude.reshape(value.shape)


def _beside_normal(value: Wide, high: Any, low: Any) -> Bound:
    """Return the absolute values of numbers below or beyond the normal ones of float64, and of what is no number.

    Args:
        value: the numbers.
        high: their high words, without sign.
        low: their low words.
    """
    significand = ((high << SHIFT | low >> REST) & FRACTION | ONE).view(BOUND)
    exponent = (high >> EXPONENT).astype(np.int32) - BIAS
    magnitude = np.maximum(np.ldexp(significand, np.minimum(exponent, 0)), SMALLEST)
    beyond = exponent > 0
    if np.count_nonzero(beyond):
        magnitude[beyond] = np.abs(value[beyond]).astype(BOUND)
    return magnitude
