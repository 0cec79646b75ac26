"""Runs kernels with factors of rows and columns on CUDA; all that a step needs is on the device before it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.devices.interface import Computer, Launch, address_of
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, ROW, Factors, Kernel
from optimetry.accelerated.plan import Plan, per_item
from optimetry.accelerated.source.cuda_tiles import rates_text, renew_text, tiled_text
from optimetry.accelerated.tiles import Tiles, inverse_roots, share_of

COLUMNS = 1024
"""The most columns of a tile, fewer than on the processor: each tile is one block, of which hundreds run at once."""


class CudaTiles:
    """One kernel with factors, compiled for one dtype and device; see `Executable`."""

    def __init__(
        self, kernel: Kernel, factors: Factors, dtypes: DtypePair, device: Computer, *, master: bool, fmad: bool
    ) -> None:
        self.kernel, self.factors, self.dtypes = kernel, factors, dtypes
        self.device, self.master = device, master
        threads = device.threads
        self._passes = [
            device.compiled(tiled_text(pass_, dtypes, threads, master=master, crossed=j == 0), "one_pass", fmad=fmad)
            for j, pass_ in enumerate(kernel.passes)
        ]
        self._renew = device.compiled(renew_text(dtypes, threads), "renew", fmad=fmad)
        self._rates = device.compiled(rates_text(kernel, dtypes, threads), "rates", fmad=fmad)

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step. All memory is taken here: where there is too little, nothing has been changed."""
        tiles, factors, put = Tiles.of(plan, COLUMNS), self.factors, self.device.given
        count, items, tensors = tiles.units.shape[1], len(tiles.item), len(plan.tensors)
        if not count:
            return lambda: None
        roots, updates = inverse_roots(tiles), plan.updates()
        across, down = (self.device.zeros(size, np.float64) for size in tiles.sums)
        places = partial(tiles.addresses, factors=factors, roots=roots)
        units = put(tiles.units)
        sums = [self.device.zeros(count * pass_.sums, np.float64) for pass_ in self.kernel.passes]
        launches: list[tuple[Launch, int, list[Array | int]]] = []
        for j, pass_ in enumerate(self.kernel.passes):
            if j == 1:
                slots = put(np.concatenate([places(name) for name in (factors.rows, factors.columns, ROW, COLUMN)]))
                floor = put(np.array([factors.least], np.float64))
                share = put(share_of(tiles, factors))
                launches.append((self._renew, items, [put(tiles.matrices), items, slots, share, floor, across, down]))
            with np.errstate(all="ignore"):
                values = pass_.scalars(lr, updates, *[np.ones(tensors)] * self.kernel.measured[j])
            scalars = put(per_item(values, tensors, self.dtypes.compute))
            if pass_.rate is not None:
                first = put(np.searchsorted(tiles.units[6], np.arange(tensors + 1)))
                numbers = put(np.array([lr, *pass_.rate.numbers.values()], np.float64))
                sizes = put(plan.arena.sizes[plan.tensors])
                counts = put(updates.astype(np.int64))
                launches.append((self._rates, tensors, [first, sizes, counts, sums[0], sums[j - 1], numbers, scalars]))
            table = put(np.concatenate([places(name) for name in pass_.arrays(master=self.master)]))
            launches.append((self._passes[j], count, [table, items, units, count, scalars, sums[j], across, down]))

        def run(kept: tuple[Plan, dict[str, Array]] = (plan, roots)) -> None:  # tables have their addresses alone
            for launch, blocks, arguments in launches:
                launch(blocks, [value if isinstance(value, int) else address_of(value) for value in arguments])

        return run
