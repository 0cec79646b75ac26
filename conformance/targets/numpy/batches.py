"""Turns scaled gradients, and those of the parts of a batch, into gradients of the whole batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from optimetry.conformance.numerics.arrays import Array

Gradient = TypeVar("Gradient", bound=Array | None)


def unscaled(grads: Sequence[Gradient], scale: float) -> list[Gradient]:
    """Divide gradients by their scale, in their own dtype."""
    divided: list[Any] = [None if grad is None else np.array(grad / scale, grad.dtype) for grad in grads]
    return divided


def mean_of(parts: Sequence[Sequence[Gradient]]) -> list[Gradient]:
    """Return the mean of each parameter's gradients over all parts, in its own dtype."""
    sums: list[Any] = list(parts[0])
    for part in parts[1:]:
        pairs = zip(sums, part, strict=True)
        sums = [None if sum_ is None or grad is None else sum_ + grad for sum_, grad in pairs]
    return unscaled(sums, len(parts))
