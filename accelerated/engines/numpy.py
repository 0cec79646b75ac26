"""The engine in plain NumPy: the same scalar functions, given blocks that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.dtypes import Array, DtypePair
from optimetry.accelerated.engines.numpy_tiles import NumpyTiles
from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass
from optimetry.accelerated.plan import Plan, per_item, scalar_rows
from optimetry.accelerated.selection.numpy import NumpySelector

BLOCK = 8192
"""The elements of one block: its temporaries fit the cache, and are all that a step allocates.

Narrow dtypes need more of them, and take half.
"""


class NumpyEngine:
    """The engine ``numpy``; see `Engine`."""

    name = "numpy"

    def executable(self, kernel: Kernel, dtypes: DtypePair, *, master: bool = False) -> NumpyExecutable | NumpyTiles:
        """Prepare a kernel; arenas say by themselves whether there are master copies."""
        if kernel.factors is not None:
            return NumpyTiles(kernel, kernel.factors, dtypes)
        return NumpyExecutable(kernel, dtypes)

    def selector(self, u: Column, v: Column, sizes: Array) -> NumpySelector:
        """Prepare the selection by partition."""
        return NumpySelector(u, v, sizes)


class NumpyExecutable:
    """One kernel for one dtype, one block after the other; see `Executable`."""

    def __init__(self, kernel: Kernel, dtypes: DtypePair) -> None:
        self.kernel, self.dtypes = kernel, dtypes
        self.block = BLOCK // 2 if dtypes.narrow else BLOCK

    def ready(self, plan: Plan, lr: float) -> Callable[[], None]:
        """Prepare one step in place."""
        return partial(self._run, plan, lr)

    def _run(self, plan: Plan, lr: float) -> None:
        norms: list[Array] = []
        with np.errstate(all="ignore"):
            for pass_ in self.kernel.passes:
                if norms:
                    row = np.arange(len(plan.count))
                    values = pass_.scalars(lr, plan.updates(), *plan.scalar_inputs(pass_, norms))
                    scalars = per_item(values, len(plan.count), self.dtypes.compute)
                else:
                    scalars, row = scalar_rows(pass_.scalars, lr, plan.updates(), self.dtypes.compute)
                squares = np.zeros((len(plan.count), pass_.sums))
                for item in range(len(plan.count)):
                    squares[item] = self._pass_over(pass_, plan, item, list(scalars[row[item]]))
                norms = list(np.sqrt(squares.T))

    def _pass_over(self, pass_: Pass, plan: Plan, item: int, scalars: list[np.floating]) -> Array:
        """Run one pass over an item, block by block, and return the sums of squares."""
        arena, tensor = plan.arena, int(plan.tensor[item])
        start, count = int(plan.start[item]), int(plan.count[item])
        arrays = {
            name: arena.current(name, tensor)[start : start + count] for name in arena.slots if name in pass_.reads
        }
        arrays[PARAM] = arena.real(tensor)[start : start + count]
        grad, first = plan.grads[tensor], int(plan.grad_start[item])
        assert grad is not None
        arrays[GRAD] = grad.reshape(-1)[first : first + count]
        sums = np.zeros(pass_.sums)
        for low in range(0, count, self.block):
            block = slice(low, low + self.block)
            operands = [arrays[name][block].astype(self.dtypes.compute, copy=False) for name in pass_.reads]
            results = pass_.function(*operands, *scalars)
            for j, values in enumerate(results[: pass_.sums]):
                sums[j] += np.sum(np.square(values, dtype=np.float64))
            for name, values in zip(pass_.writes, results[pass_.sums :], strict=True):
                arrays[name][block] = values
            if arena.master is not None and PARAM in pass_.writes:
                arena.flat[tensor][start : start + count][block] = arrays[PARAM][block]
        return sums
