"""Makes tensors that are zero but for a few elements.

A zero adds nothing to a norm, in whatever order it is summed: so the rounding error of the norm is that of a few
addends, and the tensor may be as large as memory allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array

SPARSE = "zero_between_seams"
"""The name of the pattern of such gradients, and of a start at such parameters; no drawn pattern has it."""

SMALLEST_SEAM = 10
"""The binary exponent of the smallest block that may end before a chosen element."""


def places(size: int) -> Array:
    """Return the elements that are not zero: the first, the last, and both sides of powers of two from 1,024 on.

    There are 24 at most up to two million elements, few enough for a sum in bfloat16.
    """
    seams = 2 ** np.arange(SMALLEST_SEAM, max(size, 1).bit_length())
    around = np.concatenate([[0, size - 1], seams - 1, seams])
    return np.unique(around[(around >= 0) & (around < size)])


def sparse(values: Any) -> Any:
    """Return an array with zeros in all other places."""
    kept = np.zeros_like(values)
    chosen = places(kept.size)
    kept.flat[chosen] = values.flat[chosen]
    return kept
