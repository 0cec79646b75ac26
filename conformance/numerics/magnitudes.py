"""Reads absolute values as float64, in which bounds are computed, whatever is wider.

NumPy takes as long to round a number of quad precision to float64 as to multiply it. Its bits are read in a tenth of
that: those of IEEE binary128, whose high word holds sign, exponent and 48 bits of the significand. So are zeros, of
which there are many; what is subnormal in float64 is rounded.
"""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST, Bound, Wide
from optimetry.conformance.numerics.widening import HIGH, SHIFT, UNSIGNED

FIRST, NORMAL = np.uint64((16383 - 1022) << 48), np.uint64((2046 << 48) - 1)
"""The high word of the smallest normal double, and how many high words there are from there to the last of a double,
with which numbers may round to infinity."""

FIRST_OF_DOUBLES = np.uint64(1 << 52)


def magnitude_of(value: Wide) -> Bound:
    """Return absolute values as float64, of quad numbers truncated: within 2^-48 of what they are.

    Infinite where that overflows, and not zero where it underflows.
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
        not_zero = high | words[1 - HIGH :: 2] != 0
        bits *= not_zero
        rest = np.flatnonzero(not_zero & ~normal)
        if rest.size:
            magnitude[rest] = np.maximum(np.abs(flat[rest]).astype(BOUND), SMALLEST)
    return magnitude.reshape(value.shape)
