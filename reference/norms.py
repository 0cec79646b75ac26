"""The Euclidean norm and the root mean square of a tensor."""

from __future__ import annotations

import numpy as np

from optimetry.reference.rule import Array


def norm(x: Array) -> Array:
    """The root of the sum of squares over all elements, a 0-d array of the dtype of ``x``; 0 for an empty tensor."""
    return np.sqrt(np.sum(np.square(x), initial=0.0))  # not every dtype has a default for no terms


def rms(x: Array) -> Array:
    """The root of the mean square over all elements, a 0-d array of the dtype of ``x``."""
    return np.sqrt(np.mean(np.square(x)))
