"""Runs kernels with factors of rows and columns, compiled with Numba: loops over tiles, shared among threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numba import from_dtype

from optimetry.accelerated.devices.interface import address_of
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.engines.shares import DOUBLE, at_once, share_out
from optimetry.accelerated.kernels.kernel import COLUMN, ROW, Factors, Kernel
from optimetry.accelerated.plan import Plan, per_item
from optimetry.accelerated.source import tile_text
from optimetry.accelerated.source.loop_text import compiled
from optimetry.accelerated.source.machine_code import Loop, in_machine_code
from optimetry.accelerated.threads import worthwhile
from optimetry.accelerated.tiles import Tiles, inverse_roots, share_of


@cache
def _renew(compute: np.dtype[Any]) -> Loop:
    return in_machine_code(tile_text.renew, tile_text.signature(from_dtype(compute)))


class NumbaTiles:
    """One kernel with factors, compiled for one dtype; see `Executable`."""

    def __init__(self, kernel: Kernel, factors: Factors, dtypes: DtypePair, threads: int, *, master: bool) -> None:
        self.kernel, self.factors, self.dtypes = kernel, factors, dtypes
        self.threads, self.master = threads, master
        writers = [tile_text.crossed_text, *[tile_text.tiled_text] * (len(kernel.passes) - 1)]
        passes = zip(kernel.passes, writers, strict=True)
        self._loops = [compiled(pass_, dtypes, master, write) for pass_, write in passes]
        self._renew = _renew(dtypes.compute)

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step in place."""
        if plan.prepared is None:
            plan.prepared = PreparedTiles(self, plan)
        return partial(self._run, plan.prepared, lr)

    def _run(self, prepared: PreparedTiles, lr: float) -> None:
        tiles, means, factors = prepared.tiles, list[Array](), self.factors
        updates, tensors = tiles.plan.updates(), len(tiles.plan.tensors)
        for j, (pass_, loop) in enumerate(zip(self.kernel.passes, self._loops, strict=True)):
            if j == 1:
                share = share_of(tiles.plan, tiles.item, factors)
                self._renew(
                    tiles.matrices,
                    prepared.slots,
                    share,
                    factors.least,
                    prepared.across,
                    prepared.down,
                    self.dtypes.compute,
                )
            with np.errstate(all="ignore"):
                scalars = per_item(pass_.scalars(lr, updates, *means), tensors, DOUBLE)
            sums = np.empty((tiles.units.shape[1], pass_.sums))
            share_out(loop, prepared.tables[j], tiles.units, scalars, sums, prepared.share, prepared.threads)
            means += tiles.root_means(sums)


class PreparedTiles:
    """The tables of a plan that are the same in every step."""

    def __init__(self, executable: NumbaTiles, plan: Plan) -> None:
        self.tiles, factors = Tiles.of(plan), executable.factors
        tiles = self.tiles
        self.threads = worthwhile(executable.threads, tiles.elements)
        self.share = at_once(tiles.units.shape[1], tiles.elements)
        self.across, self.down = (np.empty(size) for size in tiles.sums)
        self.roots = inverse_roots(tiles)
        places = partial(tiles.addresses, factors=factors, roots=self.roots)
        self.slots = np.stack([places(name) for name in (factors.rows, factors.columns, ROW, COLUMN)])
        crossed = [np.full(len(tiles.item), address_of(array), np.uint64) for array in (self.across, self.down)]
        self.tables = [
            np.stack([*map(places, pass_.arrays(master=executable.master)), *(crossed if j == 0 else [])])
            for j, pass_ in enumerate(executable.kernel.passes)
        ]
