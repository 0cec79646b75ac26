"""The engine on CUDA: every pass is one launch over all parameters on the current stream, which is not waited for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.devices.interface import Computer
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.engines.cuda_launches import Launches, ready
from optimetry.accelerated.engines.cuda_tiles import CudaTiles
from optimetry.accelerated.kernels.kernel import Kernel, Pass
from optimetry.accelerated.plan import Plan, Units, per_item, scalar_rows
from optimetry.accelerated.selection.cuda import CudaSelector
from optimetry.accelerated.source.cuda_text import norms_text, pass_text

UNIT = 4096
"""The most elements of one unit, fewer than on the processor: each is one block, of which a thousand run at once."""


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
        self.passes = [
            device.compiled(pass_text(pass_, dtypes, device.threads, master=master), "one_pass", fmad=fmad)
            for pass_ in passes
        ]
        self.norms = {
            j: device.compiled(norms_text(passes[j - 1], pass_, dtypes, device.threads), "norms", fmad=fmad)
            for j, pass_ in enumerate(passes)
            if pass_.rate is not None
        }
        self._kept: dict[tuple[int, str], tuple[Array, Array]] = {}

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step. All memory is taken here: where there is too little, nothing has been changed."""
        if not plan.count.any():
            return lambda: None
        return ready(plan, lr, self.device, lambda: PreparedStep(self, plan, lr))

    def table(self, name: str, array: Array) -> Array:
        """Return a table on the device, copied again only if it has changed: most never do."""
        key = self.device.stream(), name
        if key not in self._kept or not np.array_equal(self._kept[key][0], array):
            self._kept[key] = array, self.device.given(np.ascontiguousarray(array))
        return self._kept[key][1]


class PreparedStep:
    """The launches of one step over units; see `Prepared`."""

    def __init__(self, executable: CudaExecutable, plan: Plan, lr: float) -> None:
        self.executable, device, table = executable, executable.device, executable.table
        passes, items = executable.kernel.passes, len(plan.count)
        cut = Units.of(plan.count, UNIT)
        units = [table("item", cut.item), table("start", cut.start), table("count", cut.count)]
        sums = [device.zeros(len(cut.item) * pass_.sums, np.float64) for pass_ in passes]
        self.launches = launches = Launches(device)
        for j, pass_ in enumerate(passes):
            values, row = self._scalars(j, plan, lr)
            scalars = launches.renewed(f"scalars {j}", values)
            if pass_.rate is not None:
                joint = pass_.rate.joint
                ends = np.arange(2) * len(cut.item) if joint else np.searchsorted(cut.item, np.arange(items + 1))
                numbers = launches.renewed(f"numbers {j}", pass_.rate.values(lr))
                held: list[Array] = []
                if pass_.number is not None:
                    update = launches.renewed(f"update {j}", plan.updates())
                    held = [plan.arena.numbers[pass_.number.slot], table("tensor", plan.tensor), update]
                first = table(f"first {j}", ends)
                launches.add(executable.norms[j], len(ends) - 1, first, sums[j - 1], numbers, scalars, *held)
            addresses = launches.renewed(f"addresses {j}", self._addresses(pass_, plan))
            others = [*units, table(f"row {j}", row), scalars, sums[j]]
            launches.add(executable.passes[j], len(cut.item), addresses, items, *others)

    def renew(self, plan: Plan, lr: float) -> None:
        """Prepare another step of the same plan."""
        for j, pass_ in enumerate(self.executable.kernel.passes):
            self.launches.renew(f"scalars {j}", self._scalars(j, plan, lr)[0])
            if pass_.rate is not None:
                self.launches.renew(f"numbers {j}", pass_.rate.values(lr))
            if pass_.number is not None:
                self.launches.renew(f"update {j}", plan.updates())
            if plan.arena.ring in pass_.reads:
                self.launches.renew(f"addresses {j}", self._addresses(pass_, plan))

    def _addresses(self, pass_: Pass, plan: Plan) -> Array:
        return np.stack([plan.addresses(name) for name in pass_.arrays(master=self.executable.master)])

    def _scalars(self, j: int, plan: Plan, lr: float) -> tuple[Array, Array]:
        """Return the scalars of a pass and the row of each item; a first scalar that needs norms is written later."""
        kernel, dtype = self.executable.kernel, self.executable.dtypes.compute
        pass_, measured, items = kernel.passes[j], kernel.measured[j], len(plan.count)
        if not measured and plan.update is not None:
            with np.errstate(all="ignore"):
                return np.array([pass_.scalars(lr, plan.update)], np.float64).astype(dtype), np.zeros(items, np.int64)
        if not measured:
            return scalar_rows(pass_.scalars, lr, plan.updates(), dtype)
        row = np.zeros(items, np.int64) if pass_.rate is not None and pass_.rate.joint else np.arange(items)
        with np.errstate(all="ignore"):
            values = pass_.scalars(lr, plan.updates(), *(np.ones(items) for _ in range(measured)))
        return per_item(values, items, dtype), row
