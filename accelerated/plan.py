"""Plans a step: which runs of elements are updated, where they and their gradients lie, and in what units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optimetry.accelerated.arena import Arena
from optimetry.accelerated.devices.interface import address_of
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.kernels.kernel import Pass
from optimetry.accelerated.rows import Rows

UNIT = 8192
"""The most elements of one unit of work: small enough to share among threads, large enough to cost nothing."""


@dataclass
class Plan:
    """The plan of one step. An item is a run of consecutive elements of one parameter with a gradient for each.

    Attributes:
        arena: the parameters and their state.
        tensors: the parameters that have a gradient, int64.
        tensor: the parameter of each item, int64.
        start: the first element of each item in its parameter, int64.
        count: the number of elements of each item, int64.
        grads: by parameter, the gradient as a contiguous array, or None.
        grad_address: by parameter, where the gradient's first element lies, int64.
        grad_start: the first element of each item in ``grads[tensor]``, flat, int64.
        copied: whether a gradient is a copy of what the caller gave.
        units: how items are cut into units, made when first asked for.
        update: the number of the next update, where it is the same for all items; else None.
        prepared: tables that an engine keeps of one step for the next.
    """

    arena: Arena
    tensors: Array
    tensor: Array
    start: Array
    count: Array
    grads: Sequence[Array | None]
    grad_address: Array
    grad_start: Array
    copied: bool
    update: int | None = None
    prepared: Any = field(default=None, repr=False)
    _units: Units | None = field(default=None, repr=False)
    _addresses: dict[str, Array] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        updates = self.updates()
        if len(updates) and (updates == updates[0]).all():
            self.update = int(updates[0])

    @classmethod
    def of(cls, arena: Arena, grads: Sequence[Array | Rows | None], addresses: Array, *, copied: bool) -> Plan:
        """Plan one step.

        Args:
            arena: the parameters.
            grads: for each of them a contiguous array, rows, or None.
            addresses: where their first elements lie, int64.
            copied: whether one is a copy of what the caller gave.
        """
        tensors = np.array([i for i, grad in enumerate(grads) if grad is not None], np.int64)
        flat = [grad.values if isinstance(grad, Rows) else grad for grad in grads]
        if not any(isinstance(grad, Rows) for grad in grads):
            none = np.zeros(len(tensors), np.int64)
            return cls(arena, tensors, tensors, none, arena.sizes[tensors], flat, addresses, none, copied)
        items: list[tuple[Array, ...]] = []
        for i in tensors.tolist():
            grad = grads[i]
            if isinstance(grad, Rows):
                grad, length = grad.summed(arena.dtypes, arena.device), math.prod(arena.shapes[i][1:])
                rows = len(grad.ids)
                items.append((np.full(rows, i), grad.ids * length, np.full(rows, length), np.arange(rows) * length))
                flat[i], addresses[i] = grad.values, address_of(grad.values)
            else:
                items.append((np.array([i]), np.zeros(1), arena.sizes[[i]], np.zeros(1)))
        tensor, start, count, grad_start = (
            np.concatenate(column).astype(np.int64) for column in zip(*items, strict=True)
        )
        return cls(arena, tensors, tensor, start, count, flat, addresses, grad_start, copied)

    @property
    def units(self) -> Units:
        """The items cut into units."""
        if self._units is None:
            self._units = Units.of(self.count)
        return self._units

    def updates(self) -> Array:
        """Return for each item which update of its parameter this is, 1 for the first."""
        return self.arena.updates[self.tensor] + 1

    def scalar_inputs(self, pass_: Pass, norms: list[Array]) -> list[Array]:
        """Return what the scalars of a pass need: the norms and the number of each tensor, if it has one.

        That number is renewed by each call, of which a step does one.
        """
        if pass_.number is None:
            return norms
        numbers = self.arena.numbers[pass_.number.slot]
        with np.errstate(all="ignore"):
            numbers[self.tensor] = pass_.number.after(self.updates(), *norms, numbers[self.tensor].astype(np.float64))
        return [*norms, numbers[self.tensor].astype(np.float64)]

    def finish(self) -> None:
        """Count this update for every parameter that has a gradient, even an empty sparse one."""
        if len(self.tensors) == len(self.arena.updates):
            self.arena.updates += 1
        else:
            self.arena.updates[self.tensors] += 1
        if self.update is not None:
            self.update += 1

    def addresses(self, name: str) -> Array:
        """Return the address of each item's first element in an array of the arena or in the gradients, as uint64."""
        addresses = self._addresses.get(name)
        if addresses is None:
            if name == "grad":
                addresses = self.grad_address[self.tensor] + self.grad_start * self.arena.dtypes.dtype.itemsize
            else:
                addresses = self.arena.address(name, self.tensor) + self.start * self.arena.itemsize(name)
            addresses = addresses.astype(np.uint64)
            if name != self.arena.ring:  # which moves on with every update
                self._addresses[name] = addresses
        return addresses


@dataclass(frozen=True)
class Units:
    """Items cut into runs of at most so many elements, always in the same places, whichever thread computes them.

    Attributes:
        item: the item of each unit, int64.
        start: the first element of each unit in its item, int64.
        count: its number of elements, int64.
        elements: the number of elements of all units.
    """

    item: Array
    start: Array
    count: Array
    elements: int

    @classmethod
    def of(cls, count: Array, most: int = UNIT) -> Units:
        """Cut items with these numbers of elements into units of at most so many."""
        pieces = -(-count // most)
        item = np.repeat(np.arange(len(count)), pieces)
        start = (np.arange(len(item)) - np.repeat(np.cumsum(pieces) - pieces, pieces)) * most
        length = np.minimum(count[item] - start, most)
        return cls(item, start, length, int(count.sum()))

    def table(self, back: Array | None = None) -> Array:
        """Return item, start, count and a zero for each unit, as rows, int64.

        Args:
            back: for each item a number below `UNIT`, int64: how many elements earlier all its units but the first
                begin. The table covers the same elements.
        """
        table = np.stack([self.item, self.start, self.count, np.zeros_like(self.item)])
        if back is not None:
            moved = back[self.item]
            moved[self.start == 0] = 0
            table[1] -= moved
            table[2] += moved
            table[2, :-1] -= moved[1:]  # which the next unit has taken
        return table


def per_item(values: Sequence[Any], items: int, dtype: np.dtype[Any]) -> Array:
    """Lay scalars out as a table of one row for each item: each is a number, or an array of one for each item."""
    table = np.empty((items, len(values)), np.float64)
    for column, value in enumerate(values):
        table[:, column] = value
    with np.errstate(all="ignore"):
        return table.astype(dtype, copy=False)


def scalar_rows(scalars: Any, lr: float, updates: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return the scalars of a pass for each update number among the items, and the row of each item.

    Scalars are prepared in double precision and rounded once.
    """
    if len(updates) and (updates == updates[0]).all():
        numbers, row = updates[:1], np.zeros(len(updates), np.int64)
    else:
        numbers, row = np.unique(updates, return_inverse=True)
    rows = [scalars(lr, number) for number in numbers.tolist()]
    with np.errstate(all="ignore"):
        table = np.array(rows, np.float64).reshape(len(rows), -1).astype(dtype)
    return table, row.astype(np.int64)
