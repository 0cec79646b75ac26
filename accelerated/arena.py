"""Lays out the memory of parameters of one dtype: the user's own arrays, and beside them one array for each slot."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from optimetry.accelerated.devices.interface import LINE, Device, address_of
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Factors

InitialState = Callable[[Array], Mapping[str, Array]]
"""Returns the initial value of each slot for an array like a parameter."""

PAGE = 4096
"""Processors compare addresses of loads and earlier stores within a page only, as if all pages were one."""

LARGE = 1 << 20
"""From this many bytes on, aligning an array within a page costs a negligible share of memory."""


class Column:
    """One array for each parameter, all in one block of memory, zero at first.

    All those of a parameter begin at the same place of a page (small ones: of a cache line). If one stream lay half a
    line before the other, a store to the one would delay loads of the other: a fifth of the speed of Adam.

    The place is such that an element that begins a line in the parameter does so here, too, also where its elements are
    half as wide. Otherwise every vector of bfloat16's state would lie across two lines: up to a tenth of the speed.

    Attributes:
        block: all of them and the gaps between, 1-d, of the compute dtype.
        first: where each begins in ``block``, int64.
        copies: how many arrays of its size each parameter has here, one after the other.
        shaped: whether the documented shape has an axis for the copies.

    Args:
        sizes: how many elements each has; by default as many as its parameter.
    """

    def __init__(
        self,
        like: Sequence[Array],
        dtype: np.dtype[Any],
        device: Device,
        copies: int = 1,
        shaped: bool = False,
        sizes: Sequence[int] | None = None,
    ) -> None:
        self.copies, self.shaped = copies, shaped
        end, first = 0, []
        for parameter, count in zip(like, sizes or [parameter.size for parameter in like], strict=True):
            size = count * dtype.itemsize * copies
            unit = PAGE if size >= LARGE else LINE
            place = address_of(parameter) // parameter.itemsize * dtype.itemsize
            end += (place - end) % unit // dtype.itemsize * dtype.itemsize
            first.append(end // dtype.itemsize)
            end += size
        raw = device.zeros(end + PAGE, np.uint8)
        start = -address_of(raw) % PAGE
        self.block = raw[start : start + end].view(dtype)
        self.first = np.array(first, np.int64)

    @property
    def address(self) -> int:
        """The address of ``block``."""
        return address_of(self.block)


class Arena:
    """The parameters of one dtype, and all other arrays that a step changes.

    Args:
        initial_state: returns the initial value of each slot for an array like a parameter: a number, or that array.
        ring: the slot that holds several arrays for each parameter, see `Kernel`.
        numbers: the slots of one number for each parameter.
        factors: says which slots are averages of rows and columns, and their shapes; see `Kernel`.
        dtypes: the dtypes of the parameters.
        parameters: contiguous and writeable; updated in place.
        master: whether to keep copies of the parameters in the compute dtype, which are then the real ones.
        device: where the parameters and all other arrays lie.

    Attributes:
        flat: the parameters as 1-d views.
        sizes: their numbers of elements, int64.
        updates: how often each has been updated, int64.
        slots: the state by slot.
        numbers: the slots of one number for each parameter, as arrays of these.
        master: the master copies; None without.
    """

    def __init__(
        self,
        initial_state: InitialState,
        ring: str | None,
        numbers: Collection[str],
        factors: Factors | None,
        dtypes: DtypePair,
        parameters: Sequence[Array],
        master: bool,
        device: Device,
    ) -> None:
        self.dtypes, self.device = dtypes, device
        self.flat = [parameter.reshape(-1) for parameter in parameters]
        self.shapes = [parameter.shape for parameter in parameters]
        self.sizes = np.array([parameter.size for parameter in parameters], np.int64)
        self.updates = np.zeros(len(parameters), np.int64)
        self.ring, self.factors = ring, factors
        self.slots: dict[str, Column] = {}
        self.numbers: dict[str, Array] = {}
        of_zero, of_one = (initial_state(np.full(1, number, dtypes.compute)) for number in (0, 1))
        as_parameter = [slot for slot in of_zero if np.any(of_zero[slot] != of_one[slot])]
        for slot, initial in of_zero.items():
            if slot in numbers:
                self.numbers[slot] = device.zeros(len(parameters), dtypes.compute)
                device.assign(self.numbers[slot], np.broadcast_to(initial, len(parameters)))
                continue
            sizes = [math.prod(self._shape(slot, i)) for i in range(len(self.flat))]
            self.slots[slot] = Column(self.flat, dtypes.compute, device, initial.size, initial.ndim > 1, sizes)
            if initial.any():
                block = self.slots[slot].block
                device.assign(block, np.broadcast_to(initial.flat[0], block.shape))
        self.master: Column | None = None
        if master and dtypes.narrow:
            self.master = Column(self.flat, dtypes.compute, device)
            for tensor, parameter in enumerate(self.flat):
                device.assign(self.real(tensor), device.copied(parameter))
        for slot, tensor in product(as_parameter, range(len(self.flat))):
            device.assign(self.current(slot, tensor), device.copied(self.real(tensor)))
        self._bases = np.array([address_of(parameter) for parameter in self.flat], np.int64)

    def itemsize(self, name: str) -> int:
        """Return the bytes of one element of an array that a pass reads or writes."""
        narrow = name == GRAD or (name == PARAM and self.master is None) or name not in (PARAM, *self.slots)
        return (self.dtypes.dtype if narrow else self.dtypes.compute).itemsize

    def address(self, name: str, tensor: Array) -> Array:
        """Return the address of an array of each of these parameters.

        `PARAM` is the master copy, if any, a slot's name that slot, and any other name the parameter itself. In the
        ring slot it is the address of the array for the next update.
        """
        column = self.master if name == PARAM else self.slots.get(name)
        if column is None:
            bases: Array = self._bases[tensor]
            return bases
        first = column.first[tensor]
        if name == self.ring:
            first = first + self.updates[tensor] % column.copies * self.sizes[tensor]
        return first * self.dtypes.compute.itemsize + column.address

    def real(self, tensor: int) -> Array:
        """Return the 1-d array that a pass reads and writes as `PARAM`: the master copy, or the parameter."""
        return self.flat[tensor] if self.master is None else self._segment(self.master, tensor)

    def current(self, slot: str, tensor: int) -> Array:
        """Return the 1-d array of a slot that the next update of a parameter reads and writes."""
        column = self.slots[slot]
        return self._segment(column, tensor, int(self.updates[tensor]) % column.copies if slot == self.ring else 0)

    def view(self, slot: str, tensor: int) -> Array:
        """Return a slot of one parameter in its documented shape, a view."""
        if slot in self.numbers:
            return self.numbers[slot][tensor : tensor + 1].reshape(())
        column, shape = self.slots[slot], self._shape(slot, tensor)
        first, size = int(column.first[tensor]), math.prod(shape) * column.copies
        return column.block[first : first + size].reshape((column.copies, *shape) if column.shaped else shape)

    def _shape(self, slot: str, tensor: int) -> tuple[int, ...]:
        """Return the documented shape of one array of a slot."""
        shape = self.shapes[tensor]
        return shape if self.factors is None else self.factors.shape(slot, shape)

    def _segment(self, column: Column, tensor: int, turn: int = 0) -> Array:
        size = int(self.sizes[tensor])
        first = int(column.first[tensor]) + turn * size
        return column.block[first : first + size]

    def master_view(self, tensor: int) -> Array:
        """Return the master copy of one parameter, a view; there must be one."""
        return self.real(tensor).reshape(self.shapes[tensor])
