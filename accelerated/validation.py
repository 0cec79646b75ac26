"""Validates arrays before a step changes anything; a gradient that is only not contiguous is copied."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from optimetry.accelerated.devices.interface import Device, address_of, extent
from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.rows import Rows
from optimetry.reference.errors import ArrayError


def check_in_place(optimizer: str, noun: str, arrays: Sequence[Any], device: Device) -> None:
    """Check that arrays, each of which error texts call ``noun``, can be updated in place.

    Raises:
        ArrayError: one is no array of the device, has an unknown dtype, is not contiguous, is read-only, or overlaps.
    """
    for i, array in enumerate(arrays):
        name = f"{optimizer}: {noun} {i}"
        if not isinstance(array, device.kind) or isinstance(array, np.ma.MaskedArray):
            raise ArrayError(f"{name} is a {_type(array)}, must be a {device.library} array")
        if array.dtype.name not in DTYPES or not array.dtype.isnative:
            raise ArrayError(f"{name} has dtype {array.dtype}, must be one of {', '.join(DTYPES)}")
        if not _is_contiguous(array):
            lacks, hint = "contiguous", f"{device.library.lower()}.ascontiguousarray"
            if array.flags.c_contiguous:
                lacks, hint = "aligned to its elements", "a copy is"
            raise ArrayError(f"{name} is not {lacks}, must be: it is updated in place ({hint})")
        obstacle = device.obstacle(array)
        if obstacle is not None:
            raise ArrayError(f"{name} {obstacle}")
    ranges = sorted((*extent(array), i) for i, array in enumerate(arrays) if array.size)
    for (_, end, i), (start, _, j) in pairwise(ranges):
        if start < end:
            raise ArrayError(f"{optimizer}: {noun}s {min(i, j)} and {max(i, j)} overlap, must not share memory")


class Memory:
    """The memory of parameters, to find gradients that share it."""

    def __init__(self, parameters: Sequence[Array]) -> None:
        ranges = sorted(extent(parameter) for parameter in parameters if parameter.size)
        self._starts = np.array([start for start, _ in ranges], np.int64)
        self._ends = np.array([end for _, end in ranges], np.int64)

    def shared(self, starts: Array, sizes: Array) -> list[int]:
        """Return which contiguous arrays, given by address and bytes, share it."""
        ends = starts + sizes
        before = np.searchsorted(self._starts, ends) - 1  # the last parameter that starts before the array's end
        shares = (before >= 0) & (sizes > 0)
        shares[shares] = self._ends[before[shares]] > starts[shares]
        return np.flatnonzero(shares).tolist()


def checked_gradient(optimizer: str, i: int, grad: Any, parameter: Array, device: Device) -> Array | Rows | None:
    """Return a gradient as a contiguous array, as rows that exist, or as None.

    Raises:
        ArrayError: it is none of these, or has another dtype or shape than its parameter.
    """
    if grad is None:
        return None
    if isinstance(grad, Rows):
        return _checked_rows(f"{optimizer}: gradient {i}", grad, parameter, device)
    return checked_array(optimizer, "gradient", i, grad, parameter, device, allowed=", Rows or None")


def checked_array(
    optimizer: str, noun: str, i: int, array: Any, like: Array, device: Device, *, allowed: str = ""
) -> Array:
    """Return an array of the dtype and shape of another, or a copy where it is not contiguous.

    Error texts call it ``noun`` with number ``i``, and end with what else is ``allowed``.

    Raises:
        ArrayError: it is no array of the device, or has another dtype or shape.
    """
    if type(array) is device.kind and array.dtype == like.dtype and array.shape == like.shape:
        return _contiguous(array, device)
    name = f"{optimizer}: {noun} {i}"
    if isinstance(array, np.generic):  # which NumPy makes of 0-d arrays
        array = np.asarray(array)
    if not isinstance(array, device.kind) or isinstance(array, np.ma.MaskedArray):
        raise ArrayError(f"{name} is a {_type(array)}, must be a {device.library} array{allowed}")
    return _like(name, array, like.dtype, like.shape, device)


def check_state(name: str, saved: Any, own: Array) -> None:
    """Check that an array of a saved state fits the array that it is copied to.

    Raises:
        ArrayError: it is no array, or has another shape, or a dtype that does not fit.
    """
    array = as_array(name, saved)
    if array.shape != own.shape or not np.can_cast(array.dtype, own.dtype, "safe"):
        raise ArrayError(
            f"{name} has dtype {array.dtype} and shape {array.shape}, must be {own.dtype} of shape {own.shape}"
        )


def as_array(name: str, value: Any) -> Array:
    """Return numbers as a NumPy array.

    Raises:
        ArrayError: they are none, such as lists of several lengths.
    """
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ArrayError(f"{name} cannot be made an array: {error}") from None


def _checked_rows(name: str, grad: Rows, parameter: Array, device: Device) -> Rows:
    ids = device.copied(grad.ids) if isinstance(grad.ids, device.kind) else as_array(f"{name}: ids", grad.ids)
    if parameter.ndim == 0:
        raise ArrayError(f"{name} is given by rows, must be an array: a 0-d parameter has no rows")
    if ids.ndim != 1 or not (np.issubdtype(ids.dtype, np.integer) or ids.size == 0):
        raise ArrayError(f"{name} has row ids of dtype {ids.dtype} and shape {ids.shape}, must be integers in one axis")
    outside = ids[(ids < 0) | (ids >= len(parameter))]
    if outside.size:
        raise ArrayError(f"{name} has row id {outside[0]}, must be in [0, {len(parameter)})")
    if not isinstance(grad.values, device.kind):
        raise ArrayError(f"{name} has rows in a {_type(grad.values)}, must be a {device.library} array")
    values = _like(f"{name}, its rows,", grad.values, parameter.dtype, (len(ids), *parameter.shape[1:]), device)
    return Rows(ids.astype(np.int64), values)


def _like(name: str, array: Array, dtype: np.dtype[Any], shape: tuple[int, ...], device: Device) -> Array:
    if array.dtype != dtype:
        raise ArrayError(f"{name} has dtype {array.dtype}, must be {dtype} as its parameter")
    if array.shape != shape:
        raise ArrayError(f"{name} has shape {array.shape}, must be {shape}")
    return _contiguous(array, device)


def _contiguous(array: Array, device: Device) -> Array:
    return array if _is_contiguous(array) else device.contiguous(array)


def _is_contiguous(array: Any) -> bool:
    """Return whether a kernel may iterate over an array: it is contiguous, with elements at multiples of their size."""
    flags = array.flags
    if isinstance(array, np.ndarray):  # knows whether it is aligned; to look at its address takes ten times as long
        return bool(flags.c_contiguous and flags.aligned)
    return bool(flags.c_contiguous and address_of(array) % array.itemsize == 0)


def _type(array: Any) -> str:
    """Return the name of a type; all libraries call theirs ndarray, which is told apart by its module."""
    kind = type(array)
    return f"{kind.__module__}.ndarray" if kind.__name__ == "ndarray" else kind.__name__
