"""The compiled engine: every pass one fused loop over all parameters, shared among threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.engines.loops import Loop, compiled
from optimetry.accelerated.formats import Array, Format
from optimetry.accelerated.kernels.kernel import Kernel, Pass
from optimetry.accelerated.threads import processors, together
from optimetry.accelerated.work import Work, per_item, scalar_rows
from optimetry.reference.errors import EngineUnavailableError

ALONE = 1 << 18
"""Below so many elements a second thread costs more than it gains."""

STEP = 4
"""How many units a thread takes at a time: a thread that the system holds up takes fewer."""


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
        try:
            self._loops = [
                compiled(one, len(one.scalars(1.0, 1, *(norms if number else ()))), form, self.master)
                for number, one in enumerate(kernel.passes)
            ]
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise EngineUnavailableError(f"Numba does not compile here: {why}") from error

    def ready(self, work: Work, lr: float) -> Callable[[], None]:
        """What does one step in place."""
        return partial(self._run, work, lr)

    def _run(self, work: Work, lr: float) -> None:
        norms: list[Array] = []
        for one, loop in zip(self.kernel.passes, self._loops, strict=True):
            if norms:
                with np.errstate(all="ignore"):
                    values = one.scalars(lr, work.updates(), *norms)
                row = np.arange(len(work.count))
                scalars = per_item(values, len(work.count), self.form.compute)
            else:
                scalars, row = scalar_rows(one.scalars, lr, work.updates(), self.form.compute)
            partial_sums = self._sweep(one, loop, work, scalars, row)
            norms = [
                np.sqrt(np.bincount(work.units.item, partial_sums[:, j], len(work.count))) for j in range(one.sums)
            ]

    def _sweep(self, one: Pass, loop: Loop, work: Work, scalars: Array, row: Array) -> Array:
        """Run one pass over all units; returns the sums of squares of each unit."""
        units = work.units
        table = np.stack([work.addresses(name) for name in one.arrays(master=self.master)])
        sums = np.empty((len(units.item), one.sums))
        threads = self.threads if units.elements >= ALONE else 1
        arguments = (table, units.item, units.start, units.count, row, scalars, sums, np.zeros(1, np.int64), STEP)
        together(partial(loop, *arguments), threads)
        return sums
