"""The plain NumPy engine: the same scalar functions, given blocks that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.dtypes import Array, Format
from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass
from optimetry.accelerated.plan import Work, per_item, scalar_rows

BLOCK = 8192
"""The elements of one block: its temporaries fit the cache, and are all that a step allocates.

Narrow formats need more of them, and take half.
"""


class NumpyEngine:
    """One kernel in one format, one block after the other."""

    name = "numpy"

    def __init__(self, kernel: Kernel, form: Format) -> None:
        self.kernel, self.form = kernel, form
        self.block = BLOCK // 2 if form.narrow else BLOCK

    def ready(self, work: Work, lr: float) -> Callable[[], None]:
        """What does one step in place."""
        return partial(self._run, work, lr)

    def _run(self, work: Work, lr: float) -> None:
        norms: list[Array] = []
        with np.errstate(all="ignore"):
            for one in self.kernel.passes:
                if norms:
                    row = np.arange(len(work.count))
                    scalars = per_item(one.scalars(lr, work.updates(), *norms), len(work.count), self.form.compute)
                else:
                    scalars, row = scalar_rows(one.scalars, lr, work.updates(), self.form.compute)
                squares = np.zeros((len(work.count), one.sums))
                for item in range(len(work.count)):
                    squares[item] = self._sweep(one, work, item, list(scalars[row[item]]))
                norms = list(np.sqrt(squares.T))

    def _sweep(self, one: Pass, work: Work, item: int, scalars: list[np.floating]) -> Array:
        """Run one pass over an item, block by block; returns the sums of squares."""
        arena, tensor = work.arena, int(work.tensor[item])
        start, count = int(work.start[item]), int(work.count[item])
        arrays = {name: arena.current(name, tensor)[start : start + count] for name in arena.slots if name in one.reads}
        arrays[PARAM] = arena.real(tensor)[start : start + count]
        grad, first = work.grads[tensor], int(work.grad_start[item])
        assert grad is not None
        arrays[GRAD] = grad.reshape(-1)[first : first + count]
        sums = np.zeros(one.sums)
        for low in range(0, count, self.block):
            block = slice(low, low + self.block)
            given = [arrays[name][block].astype(self.form.compute, copy=False) for name in one.reads]
            results = one.function(*given, *scalars)
            for j, values in enumerate(results[: one.sums]):
                sums[j] += np.sum(np.square(values, dtype=np.float64))
            for name, values in zip(one.writes, results[one.sums :], strict=True):
                arrays[name][block] = values
            if arena.master is not None and PARAM in one.writes:
                arena.flat[tensor][start : start + count][block] = arrays[PARAM][block]
        return sums
