"""Cuts matrices into tiles: the units of work of a kernel with factors of rows and columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from optimetry.accelerated.devices.interface import address_of
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.kernels.kernel import COLUMN, GRAD, ROW, Factors
from optimetry.accelerated.plan import Plan

ROWS, COLUMNS = 64, 4096
"""The most rows and columns of one tile: so many that its sums are few beside its elements, and that the processor
fetches ahead along a row, or that rows are as long as those of the matrix, which is then read in memory order."""


@dataclass(frozen=True)
class Tiles:
    """The matrices of the tensors of a plan, and their tiles, always the same, whichever thread computes them.

    Attributes:
        plan: the plan.
        item: the number of each matrix' tensor among those of the plan, int64.
        start: its first element there, int64.
        matrices: a row for each: rows, columns, tiles over another and beside another, where its sums of rows and of
            columns begin, and whether it is a tensor of fewer than two dimensions, int64.
        before: how many rows and columns the matrices before it have, int64.
        units: a row for each number of `UNIT` in `tile_text`, int64.
        sums: how many sums of rows and of columns all tiles have.
    """

    plan: Plan
    item: Array
    start: Array
    matrices: Array
    before: Array
    units: Array
    sums: tuple[int, int]

    @classmethod
    def of(cls, plan: Plan, widest: int | None = None) -> Tiles:
        """Cut the tensors of a plan into matrices, and these into tiles of at most so many columns, else `COLUMNS`."""
        widest = widest or COLUMNS
        items, starts = list[int](), list[int]()
        matrices, units = list[tuple[int, ...]](), list[tuple[int, ...]]()
        across_at = down_at = 0
        for item, tensor in enumerate(plan.tensors.tolist()):
            shape = plan.arena.shapes[tensor]
            flat = len(shape) < 2
            rows, columns = (1, math.prod(shape)) if flat else shape[-2:]
            high, wide = -(-rows // ROWS), -(-columns // widest)
            for number in range((1 if flat else math.prod(shape[:-2])) if rows * columns else 0):
                k = len(matrices)
                items.append(item)
                starts.append(number * rows * columns)
                matrices.append((rows, columns, high, wide, across_at, down_at, flat))
                for y, x in np.ndindex(high, wide):
                    top, left = y * ROWS, x * widest
                    size = min(ROWS, rows - top), min(widest, columns - left)
                    places = across_at + x * rows + top, down_at + y * columns + left
                    units.append((k, top, size[0], left, size[1], columns, item, *places))
                across_at, down_at = across_at + wide * rows, down_at + high * columns
        table = np.array(matrices, np.int64).reshape(-1, 7)
        before = np.cumsum(table[:, :2], axis=0) - table[:, :2]
        columns_of_units = np.ascontiguousarray(np.array(units, np.int64).reshape(-1, 9).T)
        return cls(
            plan,
            np.array(items, np.int64),
            np.array(starts, np.int64),
            table,
            before,
            columns_of_units,
            (across_at, down_at),
        )

    def addresses(self, name: str, factors: Factors, roots: Mapping[str, Array]) -> Array:
        """Return the address of the first element of each matrix in an array that a pass reads or writes, as uint64.

        Args:
            name: of the array, or a slot.
            factors: the slots of averages.
            roots: the values of `ROW` and `COLUMN`; see `inverse_roots`.
        """
        arena, tensor = self.plan.arena, self.plan.tensors[self.item]
        wide = arena.dtypes.compute.itemsize
        if name in roots:
            axis = (ROW, COLUMN).index(name)
            return (address_of(roots[name]) + self.before[:, axis] * wide).astype(np.uint64)
        if name == GRAD:
            starts = self.plan.grad_address[tensor] + self.start * arena.dtypes.dtype.itemsize
        elif name == factors.columns:
            slots = np.array([arena.address(slot, tensor) for slot in (factors.columns, factors.elements)])
            flat = self.matrices[:, 6]
            starts = np.where(flat, slots[1], slots[0] + self._number * self.matrices[:, 1] * wide)
        elif name == factors.rows:
            starts = arena.address(name, tensor) + self._number * self.matrices[:, 0] * wide
        else:
            starts = arena.address(name, tensor) + self.start * arena.itemsize(name)
        addresses: Array = starts.astype(np.uint64)
        return addresses

    @property
    def _number(self) -> Array:
        """The number of each matrix in its tensor."""
        return np.arange(len(self.item)) - np.searchsorted(self.item, self.item)

    @property
    def elements(self) -> int:
        """The number of elements of all matrices."""
        return int(self.plan.arena.sizes[self.plan.tensors].sum())

    def root_means(self, squares: Array) -> list[Array]:
        """Return the root of the mean square of each tensor, given sums of squares of each tile."""
        sizes = self.plan.arena.sizes[self.plan.tensors]
        totals = [np.bincount(self.units[6], column, len(sizes)) for column in squares.T]
        with np.errstate(all="ignore"):
            return [np.sqrt(total / sizes) for total in totals]


def share_of(plan: Plan, tensor: Array, factors: Factors) -> Array:
    """Return the share of an average that this update keeps, for each matrix given the number of its tensor."""
    updates = (plan.arena.updates[plan.tensors] + 1).astype(np.float64)
    kept: Array = np.broadcast_to(factors.weight(updates), updates.shape)[tensor]
    return kept.astype(np.float64)


def inverse_roots(tiles: Tiles) -> dict[str, Array]:
    """Allocate the values of `ROW` for all rows of all matrices, and of `COLUMN` for all columns."""
    arena, sizes = tiles.plan.arena, tiles.matrices[:, :2].sum(axis=0)
    return {
        name: arena.device.zeros(int(size), arena.dtypes.compute)
        for name, size in zip((ROW, COLUMN), sizes, strict=True)
    }
