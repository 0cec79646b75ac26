"""The engine that compiles with Numba: every pass is one fused loop over all parameters, shared among threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.devices.interface import LINE
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.engines.numba_tiles import NumbaTiles
from optimetry.accelerated.engines.shares import DOUBLE, at_once, share_out
from optimetry.accelerated.kernels.kernel import Kernel, Pass
from optimetry.accelerated.plan import Plan, per_item, scalar_rows
from optimetry.accelerated.selection.numba import NumbaSelector
from optimetry.accelerated.source.loop_text import compiled
from optimetry.accelerated.source.machine_code import Loop
from optimetry.accelerated.threads import processors, worthwhile
from optimetry.reference.errors import EngineUnavailableError


class NumbaEngine:
    """The engine ``numba``; see `Engine`.

    Args:
        threads: how many threads may work; None for as many as there are processors to use.

    Raises:
        EngineUnavailableError: compilation is disabled in Numba.
    """

    name = "numba"

    def __init__(self, threads: int | None = None) -> None:
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            raise EngineUnavailableError("NUMBA_DISABLE_JIT is set: nothing can be compiled")
        self.threads = threads or processors()

    def executable(self, kernel: Kernel, dtypes: DtypePair, *, master: bool = False) -> NumbaExecutable | NumbaTiles:
        """Compile every pass of a kernel."""
        if kernel.factors is not None:
            return NumbaTiles(kernel, kernel.factors, dtypes, self.threads, master=master)
        return NumbaExecutable(kernel, dtypes, self.threads, master=master)

    def selector(self, u: Column, v: Column, sizes: Array) -> NumbaSelector:
        """Compile the selection by radix."""
        return NumbaSelector(u, v, sizes, self.threads)


class NumbaExecutable:
    """One kernel compiled for one dtype; see `Executable`."""

    def __init__(self, kernel: Kernel, dtypes: DtypePair, threads: int, *, master: bool) -> None:
        self.kernel, self.threads, self.master = kernel, threads, master
        self._loops = [compiled(pass_, dtypes, master) for pass_ in kernel.passes]

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step in place."""
        if plan.prepared is None:
            passes = zip(self.kernel.passes, self._loops, strict=True)
            threads = worthwhile(self.threads, plan.units.elements)
            plan.prepared = [PreparedPass(pass_, loop, plan, threads, master=self.master) for pass_, loop in passes]
        return partial(self._run, plan.prepared, lr)

    def _run(self, passes: list[PreparedPass], lr: float) -> None:
        norms: list[Array] = []
        for pass_ in passes:
            norms = pass_.run(lr, norms)


class PreparedPass:
    """One pass over the items of a plan, with the tables that are the same in every step.

    After a pass over memory the interpreter itself is no longer in the cache, and Python code takes ten times as long
    as alone. So a step does little beside its loops.
    """

    def __init__(self, pass_: Pass, loop: Loop, plan: Plan, threads: int, *, master: bool) -> None:
        self.pass_, self.loop, self.plan, self.threads = pass_, loop, plan, threads
        self.names = pass_.arrays(master=master)
        self.table = np.stack([plan.addresses(name) for name in self.names])
        back = None
        if not pass_.sums:  # the order of a sum must not depend on where memory lies
            first, size = self.names[0], plan.arena.itemsize(self.names[0])
            back = (plan.addresses(first) % LINE // size).astype(np.int64)
        self.units = plan.units.table(back)
        self.sums = np.empty((self.units.shape[1], pass_.sums))
        self.share = at_once(len(self.sums), plan.units.elements)

    def run(self, lr: float, norms: list[Array]) -> list[Array]:
        """Run the pass, and return the norms that it measures."""
        if self.plan.arena.ring in self.names:
            self.table[self.names.index(self.plan.arena.ring)] = self.plan.addresses(self.plan.arena.ring)
        share_out(self.loop, self.table, self.units, self._scalars(lr, norms), self.sums, self.share, self.threads)
        return [np.sqrt(np.bincount(self.units[0], column, len(self.plan.count))) for column in self.sums.T]

    def _scalars(self, lr: float, norms: list[Array]) -> Array:
        """Return the scalars, in double precision; where items differ, set the row of scalars of each unit."""
        if norms:
            self.units[3] = self.units[0]
            with np.errstate(all="ignore"):
                values = self.pass_.scalars(lr, self.plan.updates(), *self.plan.scalar_inputs(self.pass_, norms))
            return per_item(values, len(self.plan.count), DOUBLE)
        if self.plan.update is not None:
            return np.array([self.pass_.scalars(lr, self.plan.update)], DOUBLE)
        scalars, row = scalar_rows(self.pass_.scalars, lr, self.plan.updates(), DOUBLE)
        self.units[3] = row[self.units[0]]
        return scalars
