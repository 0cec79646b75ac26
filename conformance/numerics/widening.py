"""Widens numbers to the format in which they are judged, those of float64 by their bits.

NumPy takes as long to convert a number to quad precision as to add two of them. The bits of a quad number, which are
those of IEEE binary128, are the bits of the float64 with four more in the exponent and sixty more behind the fraction.
Those of thousands are made in a quarter of the time.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from optimetry.conformance.numerics.formats import BOUND, QUAD, Wide

HIGH = 1 if sys.byteorder == "little" else 0
"""Which of the two words of a quad number has its first bits."""

MANY = 1024
"""The least numbers that are converted by their bits: for fewer, NumPy is faster."""

SIGN, UNSIGNED = np.uint64(1 << 63), np.uint64((1 << 63) - 1)
SMALLEST_NORMAL, NORMAL = np.uint64(1 << 52), np.uint64(2046 << 52)
"""The bits of the smallest normal double, and how many there are from there to infinity."""

SHIFT, REST = np.uint64(4), np.uint64(60)
BIAS = np.uint64((16383 - 1023) << 48)
"""What is added to the exponent of a double."""


def widened(array: Any, wide: np.dtype[Any]) -> Wide:
    """Convert an array of any format to a wider one, exactly."""
    array = np.asarray(array)
    if wide != QUAD or array.dtype != BOUND or array.size < MANY:
        return array.astype(wide)
    flat = np.ascontiguousarray(array).reshape(-1)
    bits = flat.view(np.uint64)
    unsigned = bits & UNSIGNED
    not_zero = unsigned != 0
    words = np.empty((len(flat), 2), np.uint64)
    words[:, HIGH] = (unsigned >> SHIFT) + BIAS * not_zero | bits & SIGN
    np.left_shift(bits, REST, out=words[:, 1 - HIGH])
    value = words.reshape(-1).view(wide)
    special = (unsigned - SMALLEST_NORMAL >= NORMAL) & not_zero
    if np.count_nonzero(special):
        value[special] = flat[special].astype(wide)
    return value.reshape(array.shape)
