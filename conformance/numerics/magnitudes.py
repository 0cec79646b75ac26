"""Reads absolute values as float64, in which bounds are computed, whatever is wider.

NumPy takes as long to round a number of quad precision to float64 as to multiply it. Of thousands the bits are read in
an eighth of that: those of IEEE binary128, whose high word holds sign, exponent and 48 bits of the significand. A few
are rounded by NumPy, in a sixth of the time that so many steps take. The result is the same to the last bit.
"""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST, Bound, Wide
from optimetry.conformance.numerics.widening import HIGH, REST, SHIFT, UNSIGNED

FIRST, NORMAL = np.uint64((16383 - 1022) << 48), np.uint64((2046 << 48) - 1)
"""The high word of the smallest normal double, and how many high words there are from there to the last of a double,
with which numbers may round to infinity."""

FIRST_OF_DOUBLES = np.uint64(1 << 52)
ODD, HALF = np.uint64(1), np.uint64(1 << 63)
"""The last bit of a double, and half of it among the bits that a double has no place for, the first of them leading."""

FEW = 256
"""How many numbers NumPy rounds at most."""


def magnitude_of(value: Wide) -> Bound:
    """Return absolute values rounded to float64: infinite where that overflows, and not zero where it underflows."""
    if value.dtype != QUAD:
        return np.abs(value, out=...)
    return _rounded(value) if value.size <= FEW else _read(value)


def _rounded(value: Wide) -> Bound:
    """Round by NumPy."""
    magnitude = np.abs(value, out=...).astype(BOUND)
    if np.count_nonzero(magnitude) < np.count_nonzero(value):
        magnitude[(magnitude == 0) & (value != 0)] = SMALLEST
    return magnitude


def _read(value: Wide) -> Bound:
    """Round by bits those that are normal in float64, to the even one of two that are as near."""
    flat = np.ascontiguousarray(value).reshape(-1)
    words = flat.view(np.uint64)
    high, low = words[HIGH::2] & UNSIGNED, words[1 - HIGH :: 2]
    bits = high - FIRST
    normal = bits < NORMAL
    bits <<= SHIFT
    bits += FIRST_OF_DOUBLES
    bits |= low >> REST
    bits += (low << SHIFT | bits & ODD) > HALF
    magnitude = bits.view(BOUND)
    if np.count_nonzero(normal) < normal.size:
        not_zero = high | low != 0
        bits *= not_zero
        others = np.flatnonzero(not_zero & ~normal)
        if others.size:
            magnitude[others] = _rounded(flat[others])
    return magnitude.reshape(value.shape)
