"""Runs kernels with factors of rows and columns in plain NumPy, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, GRAD, OUT, PARAM, ROW, Factors, Kernel, Pass
from optimetry.accelerated.plan import Plan, per_item
from optimetry.accelerated.tiles import Tiles, share_of


class NumpyTiles:
    """One kernel with factors for one dtype; see `Executable`."""

    def __init__(self, kernel: Kernel, factors: Factors, dtypes: DtypePair) -> None:
        self.kernel, self.factors, self.dtypes = kernel, factors, dtypes

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step in place."""
        return partial(self._run, Tiles.of(plan), lr)

    def _run(self, tiles: Tiles, lr: float) -> None:
        means: list[Array] = []
        matrices = [self._matrix(tiles, k) for k in range(len(tiles.item))]
        updates, tensors, compute = tiles.plan.updates(), len(tiles.plan.tensors), self.dtypes.compute
        across, down = (np.empty(size) for size in tiles.sums)
        with np.errstate(all="ignore"):
            for j, pass_ in enumerate(self.kernel.passes):
                if j == 1:
                    self._renew(tiles, matrices, across, down)
                scalars = per_item(pass_.scalars(lr, updates, *means), tensors, compute)
                squares = np.zeros((tiles.units.shape[1], pass_.sums))
                for unit, (k, top, rows, left, columns, _, r, across_at, down_at) in enumerate(tiles.units.T.tolist()):
                    block = slice(top, top + rows), slice(left, left + columns)
                    sums = self._pass_over(pass_, matrices[k], block, list(scalars[r]))
                    squares[unit] = [np.sum(squared) for squared in sums]
                    if j == 0:
                        across[across_at : across_at + rows] = np.sum(sums[-1], axis=1)
                        down[down_at : down_at + columns] = np.sum(sums[-1], axis=0)
                means += tiles.root_means(squares)

    def _matrix(self, tiles: Tiles, k: int) -> dict[str, Array]:
        """Return views of all arrays of a matrix by name, and what passes read as `ROW` and as `COLUMN`."""
        plan, tensor, start = tiles.plan, int(tiles.plan.tensors[tiles.item[k]]), int(tiles.start[k])
        rows, columns, *_, flat = tiles.matrices[k].tolist()
        grad, size = plan.grads[tensor], rows * columns
        assert grad is not None
        whole = {PARAM: plan.arena.real(tensor), GRAD: grad.reshape(-1)}
        whole |= {OUT: plan.arena.flat[tensor]} if plan.arena.master is not None else {}
        made = {name: array[start : start + size].reshape(rows, columns) for name, array in whole.items()}
        number = start // size if size else 0
        slot = self.factors.elements if flat else self.factors.columns
        averages = plan.arena.view(slot, tensor).reshape(-1)
        made[self.factors.columns] = averages[number * columns : (number + 1) * columns].reshape(1, -1)
        if not flat:
            averages = plan.arena.view(self.factors.rows, tensor).reshape(-1)
            made[self.factors.rows] = averages[number * rows : (number + 1) * rows].reshape(-1, 1)
        made[ROW], made[COLUMN] = (np.ones(shape, self.dtypes.compute) for shape in ((rows, 1), (1, columns)))
        return made

    def _renew(self, tiles: Tiles, matrices: list[dict[str, Array]], across: Array, down: Array) -> None:
        """Renew the averages of rows and columns from the sums of tiles."""
        shares = share_of(tiles.plan, tiles.item, self.factors)
        for kept, matrix, table in zip(shares, matrices, tiles.matrices.tolist(), strict=True):
            rows, columns, high, wide, across_at, down_at, flat = table
            sums = down[down_at : down_at + high * columns].reshape(high, columns).sum(axis=0)
            average = matrix[self.factors.columns][0]
            average[:] = kept * average.astype(np.float64) + (1 - kept) * (sums / rows)
            matrix[COLUMN][0] = 1 / np.sqrt(average, dtype=np.float64)
            if not flat:
                average = matrix[self.factors.rows][:, 0]
                sums = across[across_at : across_at + wide * rows].reshape(wide, rows).sum(axis=0)
                average[:] = kept * average.astype(np.float64) + (1 - kept) * (sums / columns)
                mean = np.mean(average, dtype=np.float64) if rows else 0.0
                share = average / np.maximum(mean, self.factors.least)
                matrix[ROW][:, 0] = 1 / np.sqrt(share)

    def _pass_over(
        self, pass_: Pass, matrix: dict[str, Array], block: tuple[slice, slice], scalars: list[np.floating]
    ) -> list[Array]:
        """Run one pass over a tile, and return the squares of what it measures."""
        places = {ROW: (block[0], slice(None)), COLUMN: (slice(None), block[1])}
        operands = [matrix[name][places.get(name, block)] for name in pass_.reads]
        results = pass_.function(*(array.astype(self.dtypes.compute, copy=False) for array in operands), *scalars)
        for name, values in zip(pass_.writes, results[pass_.sums :], strict=True):
            matrix[name][block] = values
            if name == PARAM and OUT in matrix:
                matrix[OUT][block] = matrix[PARAM][block]
        return [np.square(values, dtype=np.float64) for values in results[: pass_.sums]]
