"""Makes the touch limit, the speed of memory: the loops of a kernel with one addition in place of its formula."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import COLUMN, GRAD, PARAM, ROW, Kernel, Pass


def touch(kernel: Kernel) -> Kernel:
    """Return the kernel that reads and writes the same arrays in as many passes, with one sum for each array."""
    return dataclasses.replace(kernel, passes=tuple(_touch(pass_) for pass_ in kernel.passes))


def _touch(pass_: Pass) -> Pass:
    sums, results = _results(pass_)
    function = _function_of(pass_.reads, (*sums, *results))
    cuda = [f"measured{j} = {name};" for j, name in enumerate(sums)]
    cuda += [f"const real new{j} = {result};" for j, result in enumerate(results)]
    cuda += [f"{name} = new{j};" for j, name in enumerate(pass_.writes)]
    text, none = "\n".join(cuda), lambda lr, t, *norms: ()
    return dataclasses.replace(pass_, function=function, scalars=none, cuda=text, rate=None, number=None)


@cache
def _function_of(reads: tuple[str, ...], results: tuple[str, ...]) -> Callable[..., Any]:
    space: dict[str, object] = {}
    text = f"def touch({', '.join(reads)}):\n    return {', '.join(results)},\n"
    exec(compile(text, __file__, "exec"), space)
    function = space["touch"]
    assert callable(function)
    function.__module__ = __name__
    return function


def _results(pass_: Pass) -> tuple[tuple[str, ...], list[str]]:
    """Return what is measured, and a sum for each written array: of it and an unwritten one; else one sum of all."""
    unread = [name for name in pass_.reads if name not in pass_.writes]
    spare = unread[0] if unread else pass_.reads[-1]
    results = [f"{name} + {spare}" for name in pass_.writes]
    if not unread:  # parameter and moments: the parameter gets the sum of all
        results = [" + ".join(pass_.reads)]
    elif GRAD not in pass_.reads:
        results = [" + ".join(pass_.reads) if name == PARAM else name for name in pass_.writes]
    return pass_.reads[: pass_.sums], results


def bytes_moved(kernel: Kernel, dtypes: DtypePair) -> int:
    """Return the bytes that one step moves between memory and processor for each element, all passes together."""
    held, wide = dtypes.dtype.itemsize, dtypes.compute.itemsize

    def size(name: str) -> int:
        if name in (ROW, COLUMN):  # few, beside the elements
            return 0
        return held if name in (GRAD, PARAM) else wide

    return sum(sum(map(size, (*pass_.reads, *pass_.writes))) for pass_ in kernel.passes)
