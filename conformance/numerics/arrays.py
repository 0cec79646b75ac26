"""Arrays that targets take and return: concrete ndarrays, compared by their bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def flat(arrays: Sequence[Array]) -> Array:
    """Concatenate all elements of all arrays, in C order."""
    return np.concatenate(arrays, axis=None)


def apart(vector: Array, like: Sequence[Array]) -> list[Array]:
    """Cut such a vector into arrays of the shapes that others have, which are views of it."""
    ends = np.cumsum([array.size for array in like])[:-1]
    return [part.reshape(array.shape) for part, array in zip(np.split(vector, ends), like, strict=True)]


ALIGNED = 64
"""Bytes of the widest vectors of elements that processors have, and of a line of their caches."""


def alike(array: Array) -> Array:
    """Copy an array into memory of its own that lies as that of the array.

    It has the same strides, and begins at an address with the same remainder by `ALIGNED`; what else is there are ones.
    """
    reach = sum((count - 1) * stride for count, stride in zip(array.shape, array.strides, strict=True))
    room = np.ones((reach + ALIGNED) // array.itemsize + 1 if array.size else 0, array.dtype)
    ahead = (array.ctypes.data - room.ctypes.data) % ALIGNED // array.itemsize
    own = np.lib.stride_tricks.as_strided(room[ahead:], array.shape, array.strides)
    own[...] = array
    return own


def same_bits(a: Array, b: Array) -> bool:
    """Tell whether two arrays of one dtype hold the same bits; ``-0.0`` and NaN payloads count."""
    return a.tobytes() == b.tobytes()


def equal(a: Array, b: Array) -> Any:
    """Tell where two arrays have equal numbers: zeros of either sign are equal, and so is every NaN."""
    return (a == b) | (np.isnan(a) & np.isnan(b))


def with_zeros(grads: Sequence[Any], params: Sequence[Any]) -> list[Any]:
    """Return the gradients of a step, with zeros for each parameter that has none."""
    return [np.zeros_like(param) if grad is None else grad for grad, param in zip(grads, params, strict=True)]
