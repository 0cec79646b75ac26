"""What arrays must be before a step touches them; a gradient that is merely awkward is copied."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from optimetry.accelerated.devices.device import Device
from optimetry.accelerated.dtypes import FORMATS, Array
from optimetry.accelerated.rows import Rows
from optimetry.reference.errors import ArrayError


def check_parameters(optimizer: str, parameters: Sequence[Any], device: Device) -> None:
    """Hold parameters to what updating in place needs.

    Raises:
        ArrayError: one is no array of the device, of no format, not contiguous, read-only, or overlaps another.
    """
    for i, parameter in enumerate(parameters):
        what = f"{optimizer}: parameter {i}"
        if not isinstance(parameter, device.kind) or isinstance(parameter, np.ma.MaskedArray):
            raise ArrayError(f"{what} is a {_type(parameter)}, must be a {device.library} array")
        if parameter.dtype.name not in FORMATS or not parameter.dtype.isnative:
            raise ArrayError(f"{what} has dtype {parameter.dtype}, must be one of {', '.join(FORMATS)}")
        if not _is_contiguous(parameter):
            hint = f"{device.library.lower()}.ascontiguousarray"
            raise ArrayError(f"{what} is not contiguous, must be: it is updated in place ({hint})")
        obstacle = device.obstacle(parameter)
        if obstacle is not None:
            raise ArrayError(f"{what} {obstacle}")
    ranges = sorted((*extent(parameter), i) for i, parameter in enumerate(parameters) if parameter.size)
    for (_, end, i), (start, _, j) in pairwise(ranges):
        if start < end:
            raise ArrayError(f"{optimizer}: parameters {min(i, j)} and {max(i, j)} overlap, must not share memory")


def address_of(array: Any) -> int:
    """The address of a NumPy or CuPy array's first element; ``array.ctypes.data`` takes three times as long."""
    address: int = array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.data.ptr
    return address


def _is_contiguous(array: Any) -> bool:
    """Whether a kernel may walk over an array: contiguous, and elements at multiples of their size."""
    return bool(array.flags.c_contiguous and address_of(array) % array.itemsize == 0)


def _type(given: Any) -> str:
    """The name of its type; arrays of all libraries are called ndarray."""
    kind = type(given)
    return f"{kind.__module__}.ndarray" if kind.__name__ == "ndarray" else kind.__name__


def extent(array: Array) -> tuple[int, int]:
    """The addresses of a contiguous array's first byte and of the byte after its last."""
    address = address_of(array)
    return address, address + array.nbytes


class Memory:
    """Where parameters lie, to find gradients that lie there too."""

    def __init__(self, parameters: Sequence[Array]) -> None:
        ranges = sorted(extent(parameter) for parameter in parameters if parameter.size)
        self._starts = np.array([start for start, _ in ranges], np.int64)
        self._ends = np.array([end for _, end in ranges], np.int64)

    def shared(self, starts: Array, sizes: Array) -> list[int]:
        """The places of those contiguous arrays, given by address and bytes, that share memory with any parameter."""
        ends = starts + sizes
        before = np.searchsorted(self._starts, ends) - 1  # the last parameter that starts before the array's end
        found = (before >= 0) & (sizes > 0)
        found[found] = self._ends[before[found]] > starts[found]
        return np.flatnonzero(found).tolist()


def check_gradient(optimizer: str, i: int, grad: Any, parameter: Array, device: Device) -> Array | Rows | None:
    """A gradient as a contiguous array or as rows that exist.

    Raises:
        ArrayError: it is neither, or has another dtype or shape than its parameter.
    """
    if grad is None:
        return None
    if type(grad) is device.kind and grad.dtype == parameter.dtype and grad.shape == parameter.shape:
        return _contiguous(grad, device)
    what = f"{optimizer}: gradient {i}"
    if isinstance(grad, Rows):
        return _checked_rows(what, grad, parameter, device)
    if isinstance(grad, np.generic):  # which NumPy makes of 0-d arrays
        grad = np.asarray(grad)
    if not isinstance(grad, device.kind) or isinstance(grad, np.ma.MaskedArray):
        raise ArrayError(f"{what} is a {_type(grad)}, must be a {device.library} array, Rows or None")
    return _like(what, grad, parameter.dtype, parameter.shape, device)


def _checked_rows(what: str, grad: Rows, parameter: Array, device: Device) -> Rows:
    ids = device.copied(grad.ids) if isinstance(grad.ids, device.kind) else np.asarray(grad.ids)
    if parameter.ndim == 0:
        raise ArrayError(f"{what} is given by rows, must be an array: a 0-d parameter has no rows")
    if ids.ndim != 1 or not (np.issubdtype(ids.dtype, np.integer) or ids.size == 0):
        raise ArrayError(f"{what} has row ids of dtype {ids.dtype} and shape {ids.shape}, must be integers in one axis")
    outside = ids[(ids < 0) | (ids >= len(parameter))]
    if outside.size:
        raise ArrayError(f"{what} has row id {outside[0]}, must be in [0, {len(parameter)})")
    if not isinstance(grad.values, device.kind):
        raise ArrayError(f"{what} has rows in a {_type(grad.values)}, must be a {device.library} array")
    values = _like(f"{what}, its rows,", grad.values, parameter.dtype, (len(ids), *parameter.shape[1:]), device)
    return Rows(ids.astype(np.int64), values)


def _like(what: str, array: Array, dtype: np.dtype[Any], shape: tuple[int, ...], device: Device) -> Array:
    if array.dtype != dtype:
        raise ArrayError(f"{what} has dtype {array.dtype}, must be {dtype} as its parameter")
    if array.shape != shape:
        raise ArrayError(f"{what} has shape {array.shape}, must be {shape}")
    return _contiguous(array, device)


def _contiguous(array: Array, device: Device) -> Array:
    return array if _is_contiguous(array) else device.contiguous(array)
