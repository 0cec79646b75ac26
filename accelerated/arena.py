"""Parameters of one format where the user keeps them, and their state in one array for each slot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.accelerated.formats import Array, Format
from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel
from optimetry.reference.rule import Rule

LINE = 64
"""The bytes of a cache line, and of the widest vector."""


class Arena:
    """The parameters of one format and all that a step changes.

    Args:
        rule: says which slots there are, their shape and initial value.
        kernel: the kernel of that rule.
        form: the format of the parameters.
        parameters: contiguous and writeable; updated in place.
        master: whether to keep copies of the parameters in the compute dtype, which are then the real ones.

    Attributes:
        flat: the parameters as 1-d views.
        sizes: their numbers of elements, int64.
        updates: how often each has been updated, int64.
        slots: by slot, one 1-d array of the compute dtype: for each parameter its elements, once or several times.
        copies: by slot, how many times.
        master: the master copies, one after the other; None without.
    """

    def __init__(self, rule: Rule, kernel: Kernel, form: Format, parameters: Sequence[Array], master: bool) -> None:
        self.form = form
        self.flat = [parameter.reshape(-1) for parameter in parameters]
        self.shapes = [parameter.shape for parameter in parameters]
        self.sizes = np.array([parameter.size for parameter in parameters], np.int64)
        self.offsets = np.cumsum(self.sizes) - self.sizes
        self.updates = np.zeros(len(parameters), np.int64)
        self.ring = kernel.ring
        self.slots: dict[str, Array] = {}
        self.copies: dict[str, int] = {}
        total = int(self.sizes.sum())
        for slot, initial in rule.initial_state(np.zeros(1, form.compute)).items():
            self.copies[slot] = initial.size
            self.slots[slot] = _zeros(total * initial.size, form.compute)
            if initial.any():
                self.slots[slot][:] = initial.flat[0]
        self.shaped = {slot: rule.initial_state(np.zeros(1, form.compute))[slot].ndim > 1 for slot in self.slots}
        self.master: Array | None = None
        if master and form.narrow:
            self.master = _zeros(total, form.compute)
            for parameter, offset in zip(self.flat, self.offsets.tolist(), strict=True):
                self.master[offset : offset + parameter.size] = parameter
        self._bases = np.array([parameter.ctypes.data for parameter in self.flat], np.int64)

    def row_size(self, tensor: int) -> int:
        """The number of elements of one row of a parameter."""
        return math.prod(self.shapes[tensor][1:])

    def itemsize(self, name: str) -> int:
        """The bytes of one element of an array that a pass reads or writes."""
        narrow = name == GRAD or (name == PARAM and self.master is None) or name not in (PARAM, *self.slots)
        return (self.form.dtype if narrow else self.form.compute).itemsize

    def address(self, name: str, tensor: Array) -> Array:
        """The address of an array of each of these parameters.

        `PARAM` is the master copy, if any, a slot's name that slot, and any other name the parameter itself. In the
        ring slot it is the address of the array for the next update.
        """
        if name in self.slots:
            first = self.offsets[tensor] * self.copies[name]
            if name == self.ring:
                first = first + self.updates[tensor] % self.copies[name] * self.sizes[tensor]
            return first * self.form.compute.itemsize + self.slots[name].ctypes.data
        if name == PARAM and self.master is not None:
            return self.offsets[tensor] * self.form.compute.itemsize + self.master.ctypes.data
        bases: Array = self._bases[tensor]
        return bases

    def real(self, tensor: int) -> Array:
        """The 1-d array that a pass reads and writes as `PARAM`: the master copy, or the parameter."""
        if self.master is None:
            return self.flat[tensor]
        offset, size = int(self.offsets[tensor]), int(self.sizes[tensor])
        return self.master[offset : offset + size]

    def current(self, slot: str, tensor: int) -> Array:
        """The 1-d array of a slot that the next update of a parameter reads and writes."""
        turn = int(self.updates[tensor]) % self.copies[slot] if slot == self.ring else 0
        offset, size = int(self.offsets[tensor]) * self.copies[slot], int(self.sizes[tensor])
        return self.slots[slot][offset + turn * size : offset + (turn + 1) * size]

    def view(self, slot: str, tensor: int) -> Array:
        """The whole of a slot of one parameter in its documented shape, a view."""
        shape, copies = self.shapes[tensor], self.copies[slot]
        whole = (copies, *shape) if self.shaped[slot] else shape
        offset = int(self.offsets[tensor]) * copies
        return self.slots[slot][offset : offset + math.prod(whole)].reshape(whole)

    def master_view(self, tensor: int) -> Array:
        """The master copy of one parameter, a view; there must be one."""
        return self.real(tensor).reshape(self.shapes[tensor])


def _zeros(size: int, dtype: np.dtype[Any]) -> Array:
    """Zeros that begin where a cache line does."""
    raw = np.zeros(size * dtype.itemsize + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size * dtype.itemsize].view(dtype)
