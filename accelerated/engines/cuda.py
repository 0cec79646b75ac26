"""The engine on CUDA: every pass is one launch over all parameters on the current stream, which is not waited for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.devices.interface import Computer, Launch, address_of
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.engines.cuda_tiles import CudaTiles
from optimetry.accelerated.kernels.kernel import Kernel, Pass
from optimetry.accelerated.plan import Plan, per_item, scalar_rows
from optimetry.accelerated.selection.cuda import CudaSelector
from optimetry.accelerated.source.cuda_text import norms_text, pass_text


class CudaEngine:
    """The engine ``cuda``; see `Engine`.

    Args:
        device: what it runs on.
        fmad: whether the compiler may fuse a product and a sum, which rounds once; without, every operation of the
            body is rounded as on the processor.
    """

    name = "cuda"

    def __init__(self, device: Computer, *, fmad: bool = False) -> None:
        self.device, self.fmad = device, fmad

    def executable(self, kernel: Kernel, dtypes: DtypePair, *, master: bool = False) -> CudaExecutable | CudaTiles:
        """Compile every pass of a kernel, and the norms between them."""
        if kernel.factors is not None:
            return CudaTiles(kernel, kernel.factors, dtypes, self.device, master=master, fmad=self.fmad)
        return CudaExecutable(kernel, dtypes, self.device, master=master, fmad=self.fmad)

    def selector(self, u: Column, v: Column, sizes: Array) -> CudaSelector:
        """Compile the selection by radix."""
        return CudaSelector(u, v, sizes, self.device)


class CudaExecutable:
    """One kernel compiled for one dtype and device; see `Executable`."""

    def __init__(self, kernel: Kernel, dtypes: DtypePair, device: Computer, *, master: bool, fmad: bool) -> None:
        self.kernel, self.dtypes, self.device, self.master = kernel, dtypes, device, master
        passes = kernel.passes
        self._passes = [
            device.compiled(pass_text(pass_, dtypes, device.threads, master=master), "one_pass", fmad=fmad)
            for pass_ in passes
        ]
        self._norms = {
            j: device.compiled(norms_text(passes[j - 1], pass_, dtypes, device.threads), "norms", fmad=fmad)
            for j, pass_ in enumerate(passes)
            if pass_.rate is not None
        }
        self._kept: dict[tuple[int, str], tuple[Array, Array]] = {}

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step. All memory is taken here: where there is too little, nothing has been changed."""
        item, items = plan.units.item, len(plan.count)
        if not len(item):
            return lambda: None
        passes = self.kernel.passes
        sums = [self.device.zeros(len(item) * pass_.sums, np.float64) for pass_ in passes]
        units = [self._table(name, getattr(plan.units, name)) for name in ("item", "start", "count")]
        launches: list[tuple[Launch, int, list[Array | int]]] = []
        for j, pass_ in enumerate(passes):
            values, row = self._scalars(pass_, plan, lr, self.kernel.measured[j])
            scalars = self._new(values)
            if pass_.rate is not None:
                ends = np.arange(2) * len(item) if pass_.rate.joint else np.searchsorted(item, np.arange(items + 1))
                numbers = self._new(np.array([lr, *pass_.rate.numbers.values()]))
                first = self._table(f"first {j}", ends)
                held: list[Array | int] = []
                if pass_.number is not None:
                    held = [plan.arena.numbers[pass_.number.slot], self._table("tensor", plan.tensor)]
                    held += [self._table("update", plan.updates())]
                launches.append((self._norms[j], len(ends) - 1, [first, sums[j - 1], numbers, scalars, *held]))
            addresses = np.stack([plan.addresses(name) for name in pass_.arrays(master=self.master)])
            table = self._table(f"addresses {j}", addresses)
            others = [*units, self._table(f"row {j}", row), scalars, sums[j]]
            launches.append((self._passes[j], len(item), [table, items, *others]))

        def run(kept: Plan = plan) -> None:  # tables have addresses alone: its copies of gradients must live
            for launch, blocks, arguments in launches:
                launch(blocks, [value if isinstance(value, int) else address_of(value) for value in arguments])

        return run

    def _new(self, array: Array) -> Array:
        """Copy a table to the device, where it lives as long as the step that it was prepared for."""
        return self.device.given(np.ascontiguousarray(array))

    def _table(self, name: str, array: Array) -> Array:
        """Return a table on the device, copied again only if it has changed: most never do."""
        key = self.device.stream(), name  # a copy for one stream may not be finished yet for another
        if key not in self._kept or not np.array_equal(self._kept[key][0], array):
            self._kept[key] = array, self._new(array)
        return self._kept[key][1]

    def _scalars(self, pass_: Pass, plan: Plan, lr: float, measured: int) -> tuple[Array, Array]:
        """Return the scalars of a pass and the row of each item; a first scalar that needs norms is written later."""
        if not measured:
            return scalar_rows(pass_.scalars, lr, plan.updates(), self.dtypes.compute)
        items = np.arange(len(plan.count))
        row = np.zeros_like(items) if pass_.rate is not None and pass_.rate.joint else items
        with np.errstate(all="ignore"):
            values = pass_.scalars(lr, plan.updates(), *(np.ones(len(items)) for _ in range(measured)))
        return per_item(values, len(items), self.dtypes.compute), row
