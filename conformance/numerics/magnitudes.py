"""Reads absolute values as float64, in which bounds are computed, whatever is wider.

NumPy takes as long to round a number of quad precision to float64 as to multiply it. Its bits are read in a fifth of
that: those of IEEE binary128, whose high word holds sign, exponent and 48 bits of the significand.
"""

from __future__ import annotations

import sys

import numpy as np

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST, Bound, Wide

LOW, HIGH = (0, 1) if sys.byteorder == "little" else (1, 0)
"""Which of the two words of a quad number has its last bits, and which its first."""

SIGN = np.uint64(1 << 63)
BIASES = np.uint64((16383 - 1023) << 48)
"""How much larger the exponent field of a quad number is than that of the same double."""

BEGIN, BEHIND = (np.uint64((16383 + exponent) << 48) for exponent in (-1022, 1024))
"""The high words of the first normal double, and of the first power of two behind the last."""


def magnitude_of(value: Wide) -> Bound:
    """Return absolute values as float64, of quad numbers truncated: within 2^-52 of what they are.

    Infinite where that overflows, and not zero where it underflows.
    """
    if value.dtype != QUAD:
        return np.abs(value, out=...)
    flat = np.ascontiguousarray(value).reshape(-1)
    words = flat.view(np.uint64)
    high, low = words[HIGH::2] & ~SIGN, words[LOW::2]
    bits = high - BIASES
    bits <<= np.uint64(4)
    bits |= low >> np.uint64(60)
    magnitude = bits.view(BOUND)
    others = np.flatnonzero((high < BEGIN) | (high >= BEHIND))
    if others.size:  # zeros, and what is no normal double
        zero = (high[others] | low[others]) == 0
        magnitude[others[zero]] = 0.0
        rest = others[~zero]
        magnitude[rest] = np.maximum(np.abs(flat[rest]).astype(BOUND), SMALLEST)
    return magnitude.reshape(value.shape)
