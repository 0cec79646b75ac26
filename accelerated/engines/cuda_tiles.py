"""Runs kernels with factors of rows and columns on CUDA; all that a step needs is on the device before it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.devices.interface import Computer
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.engines.cuda_launches import Launches, ready
from optimetry.accelerated.kernels.kernel import COLUMN, ROW, Factors, Kernel
from optimetry.accelerated.plan import Plan, Units, per_item
from optimetry.accelerated.source.cuda_text import batch_of
from optimetry.accelerated.source.cuda_tiles import columns_text, rates_text, rows_text, tiled_text
from optimetry.accelerated.tiles import Tiles, inverse_roots, share_of

COLUMNS = 2048
"""The most columns of a tile, fewer than on the processor: each tile is one block, of which hundreds run at once."""


class CudaTiles:
    """One kernel with factors, compiled for one dtype and device; see `Executable`."""

    def __init__(
        self, kernel: Kernel, factors: Factors, dtypes: DtypePair, device: Computer, *, master: bool, fmad: bool
    ) -> None:
        self.kernel, self.factors, self.dtypes = kernel, factors, dtypes
        self.device, self.master = device, master
        threads = device.threads
        self.widest = min(COLUMNS, threads * batch_of(dtypes))
        self.passes = [
            device.compiled(tiled_text(pass_, dtypes, threads, master=master, crossed=j == 0), "one_pass", fmad=fmad)
            for j, pass_ in enumerate(kernel.passes)
        ]
        self.columns = device.compiled(columns_text(dtypes, threads), "renew_columns", fmad=fmad)
        self.rows = device.compiled(rows_text(dtypes, threads), "renew_rows", fmad=fmad)
        self.rates = {
            j: device.compiled(rates_text(pass_, dtypes, threads), "rates", fmad=fmad)
            for j, pass_ in enumerate(kernel.passes)
            if pass_.rate is not None
        }

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step. All memory is taken here: where there is too little, nothing has been changed."""
        if not plan.arena.sizes[plan.tensors].any():
            return lambda: None
        return ready(plan, lr, self.device, lambda: PreparedTiles(self, plan, lr))


class PreparedTiles:
    """The launches of one step over tiles; see `Prepared`."""

    def __init__(self, executable: CudaTiles, plan: Plan, lr: float) -> None:
        self.executable, device, factors = executable, executable.device, executable.factors
        put, passes, tiles = device.given, executable.kernel.passes, Tiles.of(plan, executable.widest)
        count, items, tensors = tiles.units.shape[1], len(tiles.item), len(plan.tensors)
        roots = inverse_roots(tiles)
        across, down = (device.zeros(size, np.float64) for size in tiles.sums)
        places = partial(tiles.addresses, factors=factors, roots=roots)
        units, matrices = put(tiles.units), put(tiles.matrices)
        sums = [device.zeros(count * pass_.sums, np.float64) for pass_ in passes]
        self._matrix = tiles.item
        self.launches = launches = Launches(device)
        for j, pass_ in enumerate(passes):
            if j == 1:
                slots = put(np.concatenate([places(name) for name in (factors.rows, factors.columns, ROW, COLUMN)]))
                share = launches.renewed("share", share_of(plan, self._matrix, factors))
                pieces = put(pieces_of(tiles.matrices[:, 1], device.threads))
                launches.add(executable.columns, len(pieces), matrices, items, pieces, slots, share, down)
                floor = put(np.array([factors.least], np.float64))
                launches.add(executable.rows, items, matrices, items, slots, share, floor, across)
            scalars = launches.renewed(f"scalars {j}", self._scalars(j, plan, lr))
            if pass_.rate is not None:
                first = put(np.searchsorted(tiles.units[6], np.arange(tensors + 1)))
                numbers = launches.renewed(f"numbers {j}", pass_.rate.values(lr))
                sizes, updates = put(plan.arena.sizes[plan.tensors]), launches.renewed("updates", plan.updates())
                means = sizes, updates, sums[0], sums[j - 1]
                launches.add(executable.rates[j], tensors, first, *means, numbers, scalars)
            table = put(np.concatenate([places(name) for name in pass_.arrays(master=executable.master)]))
            launches.add(executable.passes[j], count, table, items, units, count, scalars, sums[j], across, down)
        launches.keep(*roots.values())

    def renew(self, plan: Plan, lr: float) -> None:
        """Prepare another step of the same plan."""
        self.launches.renew("share", share_of(plan, self._matrix, self.executable.factors))
        for j, pass_ in enumerate(self.executable.kernel.passes):
            self.launches.renew(f"scalars {j}", self._scalars(j, plan, lr))
            if pass_.rate is not None:
                self.launches.renew(f"numbers {j}", pass_.rate.values(lr))
                self.launches.renew("updates", plan.updates())

    def _scalars(self, j: int, plan: Plan, lr: float) -> Array:
        """Return the scalars of a pass for each tensor; a first one that needs root mean squares is written later."""
        kernel, tensors = self.executable.kernel, len(plan.tensors)
        with np.errstate(all="ignore"):
            values = kernel.passes[j].scalars(lr, plan.updates(), *[np.ones(tensors)] * kernel.measured[j])
        return per_item(values, tensors, self.executable.dtypes.compute)


def pieces_of(columns: Array, threads: int) -> Array:
    """Return for each run of at most so many columns of matrices the matrix and its first column, as rows, int64."""
    units = Units.of(columns, threads)
    return np.stack([units.item, units.start], axis=1)
