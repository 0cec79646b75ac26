"""Reads absolute values as float64, in which bounds are computed, whatever is wider.

NumPy takes as long to round a number of quad precision to float64 as to multiply it. Its bits are read in a tenth of
that: those of IEEE binary128, whose high word holds sign, exponent and 48 bits of the significand.
"""

from __future__ import annotations

import sys

import numpy as np

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST, Bound, Wide

HIGH = 1 if sys.byteorder == "little" else 0
"""Which of the two words of a quad number has its first bits."""

UNSIGNED = np.uint64((1 << 63) - 1)
FIRST, NORMAL = np.uint64((16383 - 1022) << 48), np.uint64((2046 << 48) - 1)
"""The high word of the smallest normal double, and how many high words there are from there to the last of a double,
with which numbers may round to infinity."""

SHIFT, FIRST_OF_DOUBLES = np.uint64(4), np.uint64(1 << 52)


def magnitude_of(value: Wide) -> Bound:
    """Return absolute values as float64, of quad numbers truncated: within 2^-48 of what they are.

    Infinite where that overflows, and not zero where it underflows.
    """
    if value.dtype != QUAD:
        return np.abs(value, out=...)
    flat = np.ascontiguousarray(value).reshape(-1)
    bits = flat.view(np.uint64)[HIGH::2] & UNSIGNED
    bits -= FIRST
    normal = bits < NORMAL
    bits <<= SHIFT
    bits += FIRST_OF_DOUBLES
    magnitude = bits.view(BOUND)
    if np.count_nonzero(normal) < normal.size:
        rest = flat[~normal]
        magnitude[~normal] = np.maximum(np.abs(rest).astype(BOUND), np.where(rest == 0, 0.0, SMALLEST))
    return magnitude.reshape(value.shape)
