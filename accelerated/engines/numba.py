"""The compiled engine: every pass one fused loop over all parameters, shared among threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.arena import LINE
from optimetry.accelerated.dtypes import Array, Format
from optimetry.accelerated.kernels.kernel import Kernel, Pass
from optimetry.accelerated.plan import UNIT, Work, per_item, scalar_rows
from optimetry.accelerated.source.loop_text import DONE, Loop, compiled
from optimetry.accelerated.threads import processors, together
from optimetry.reference.errors import EngineUnavailableError

ALONE = 1 << 18
"""For so many elements another thread is worth waking, and no sooner."""

SHARE = 4 * UNIT
"""About how many elements a thread takes at a time: a thread that the system holds up takes fewer."""

DOUBLE = np.dtype(np.float64)


def worthwhile(threads: int, elements: int) -> int:
    """How many of so many threads are worth their waking."""
    return min(threads, 1 + elements // ALONE)


class NumbaEngine:
    """One kernel compiled for one format.

    Raises:
        EngineUnavailableError: Numba does not compile here.
    """

    name = "numba"

    def __init__(self, kernel: Kernel, form: Format, *, master: bool = False, threads: int | None = None) -> None:
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            raise EngineUnavailableError("NUMBA_DISABLE_JIT is set: nothing can be compiled")
        self.kernel, self.form = kernel, form
        self.master = master and form.narrow
        self.threads = threads or processors()
        norms = [1.0] * kernel.passes[0].sums
        self._loops = [
            compiled(one, len(one.scalars(1.0, 1, *(norms if number else ()))), form, self.master)
            for number, one in enumerate(kernel.passes)
        ]

    def ready(self, work: Work, lr: float) -> Callable[[], None]:
        """What does one step in place."""
        if work.prepared is None:
            passes = zip(self.kernel.passes, self._loops, strict=True)
            threads = worthwhile(self.threads, work.units.elements)
            work.prepared = [Prepared(one, loop, work, threads, master=self.master) for one, loop in passes]
        return partial(self._run, work.prepared, lr)

    def _run(self, passes: list[Prepared], lr: float) -> None:
        norms: list[Array] = []
        for one in passes:
            norms = one.run(lr, norms)


class Prepared:
    """One pass over the items of one work, with all tables made that are the same in every step.

    After a pass over memory the interpreter itself is no longer in the cache: what a step does besides its loops takes
    ten times as long as in a test of it alone. So it does little.
    """

    def __init__(self, one: Pass, loop: Loop, work: Work, threads: int, *, master: bool) -> None:
        self.one, self.loop, self.work, self.threads = one, loop, work, threads
        self.names = one.arrays(master=master)
        self.table = np.stack([work.addresses(name) for name in self.names])
        back = None
        if not one.sums:  # whose order must not depend on where memory lies
            first, size = self.names[0], work.arena.itemsize(self.names[0])
            back = (work.addresses(first) % LINE // size).astype(np.int64)
        self.units = work.units.table(back)
        self.sums = np.empty((self.units.shape[1], one.sums))
        self.share = max(1, SHARE * len(self.sums) // max(1, work.units.elements))

    def run(self, lr: float, norms: list[Array]) -> list[Array]:
        """Do the pass, and return the norms that it measures."""
        if self.work.arena.ring in self.names:
            self.table[self.names.index(self.work.arena.ring)] = self.work.addresses(self.work.arena.ring)
        scalars, counters, size = self._scalars(lr, norms), np.zeros(2, np.int64), len(self.sums)
        loop = partial(self.loop, self.table, self.units, scalars, self.sums, self.share, counters)
        together(loop, self.threads, lambda: counters[DONE] >= size)
        return [np.sqrt(np.bincount(self.units[0], column, len(self.work.count))) for column in self.sums.T]

    def _scalars(self, lr: float, norms: list[Array]) -> Array:
        """The scalars, in double precision; where they are not the same of all items, their rows become the units'."""
        if norms:
            self.units[3] = self.units[0]
            with np.errstate(all="ignore"):
                values = self.one.scalars(lr, self.work.updates(), *norms)
            return per_item(values, len(self.work.count), DOUBLE)
        if self.work.update is not None:
            return np.array([self.one.scalars(lr, self.work.update)], DOUBLE)
        scalars, row = scalar_rows(self.one.scalars, lr, self.work.updates(), DOUBLE)
        self.units[3] = row[self.units[0]]
        return scalars
