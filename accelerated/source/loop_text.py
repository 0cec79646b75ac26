"""Writes the loop around a scalar function, for one pass and dtype; compiles it with Numba, cached on disk.

Numba cannot express "the next argument is an element of the next array" so that LLVM vectorises it; therefore the loop
is text. For Adam in float32 it reads, in short::

    for unit in whatever no thread has taken yet, a few at a time:
        k, start, n, r = units[0, unit], units[1, unit], ...
        param_array = array_at(table[0, k], start, n, compute)
        ...
        lr_t, beta1, ... = scalars[r, 0], scalars[r, 1], ...
        for i in range(n):
            param_array[i], ... = function(param_array[i], grad_array[i], moment1_array[i], ..., lr_t, beta1, ...)
    wait a moment for units that other threads have taken

Where parameters are narrow and many, a unit is done in short runs, and before each the lines of a later one are
prefetched: these loops do more for each byte, and what the processor fetches ahead by itself comes too late for them.

Waking a thread that sleeps takes longer than what is left at the end, so a thread without work keeps checking for a
moment.
"""

from __future__ import annotations

import hashlib
import inspect
import types as python_types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from optimetry.accelerated.devices.interface import LINE
from optimetry.accelerated.dtypes import DtypePair
from optimetry.accelerated.kernels.kernel import OUT, PARAM, Pass, select
from optimetry.accelerated.source import machine_code
from optimetry.accelerated.source.conversions import CONVERSIONS

RUN = 64
"""The elements of a run: if lines of more were asked for at once, requests would wait for each other."""

AHEAD = 1024
"""How many elements ahead lines are prefetched."""

FAR = 1 << 22
"""Steps of more elements are assumed to find nothing in the cache; for fewer, runs would only cost time."""


@overload(select)
def _select(condition: Any, chosen: Any, otherwise: Any) -> Any:
    kind = chosen

    def implementation(condition: Any, chosen: Any, otherwise: Any) -> Any:
        return chosen if condition else kind(otherwise)

    return implementation


Writer = Callable[[Pass, DtypePair, bool], str]
"""Writes the source text of the loop of a pass with dtypes, and master copies or not."""


def text_of(pass_: Pass, dtypes: DtypePair, master: bool) -> str:
    """Write the source text of the loop over elements."""
    names = pass_.arrays(master=master)
    element = {name: f"{name}_array[i]" for name in names}  # a slot may have the name of a number in the loop
    dtype, sums = dtypes_of(pass_, dtypes, master), [f"sum{j}" for j in range(pass_.sums)]
    loop = [
        *(f"{name}_array = array_at(table[{j}, k], start, n, {dtype[name]})" for j, name in enumerate(names)),
        "for i in range(n):",
        *(f"    {line}" for line in inner(pass_, element, dtypes, master)),
    ]
    if dtypes.narrow and not sums:  # the order of a sum must not depend on what else a step updates
        loop = in_runs(loop, {j: sizes_of(dtypes)[dtype[name]] for j, name in enumerate(names)}, "n * size", RUN, AHEAD)
    return around_units(
        [
            "k, start, n, r = units[0, unit], units[1, unit], units[2, unit], units[3, unit]",
            *constants_of(pass_),
            *(f"{total} = 0.0" for total in sums),
            *loop,
            *(f"partial[unit, {j}] = {total}" for j, total in enumerate(sums)),
        ]
    )


def in_runs(loop: list[str], sizes: Mapping[int, int], elements: str, run: int, ahead: int) -> list[str]:
    """Write a loop over ``n`` elements from ``start`` on in runs.

    Args:
        loop: its lines.
        sizes: the bytes of an element in the rows of the table that are prefetched.
        elements: an expression, about how many elements the step has.
        run: the elements of a run.
        ahead: how many elements ahead lines are prefetched.
    """
    prefetched = [
        f"prefetch(table[{j}, k] + uint64(start * {size} + {ahead * size + line}))"
        for j, size in sizes.items()
        for line in range(0, run * size, LINE)
    ]
    return [
        f"end, run = start + n, {run} if {elements} > {FAR} else n",
        "while start < end:",
        "    n = min(run, end - start)",
        *(f"    {line}" for line in (*prefetched, *loop)),
        "    start += n",
    ]


def sizes_of(dtypes: DtypePair) -> dict[str, int]:
    """Return the bytes of an element of each dtype, by its name in the loop."""
    return {"held": dtypes.dtype.itemsize, "compute": dtypes.compute.itemsize}


def dtypes_of(pass_: Pass, dtypes: DtypePair, master: bool) -> dict[str, str]:
    """Return the name in the loop of the dtype of each array of a pass."""
    held = pass_.held(dtypes, master=master)
    return {name: "held" if name in held else "compute" for name in pass_.arrays(master=master)}


def constants_of(pass_: Pass) -> list[str]:
    """Write the lines that read the scalars of a unit."""
    return [f"c{j} = compute(scalars[r, {j}])" for j in range(len(pass_.arguments[1]))]


def inner(pass_: Pass, element: Mapping[str, str], dtypes: DtypePair, master: bool) -> list[str]:
    """Write the lines for one element, given its name in each array."""
    held = pass_.held(dtypes, master=master)
    operands = [f"widen({element[name]})" if name in held else element[name] for name in pass_.reads]
    constants = [f"c{j}" for j in range(len(pass_.arguments[1]))]
    sums = [f"sum{j}" for j in range(pass_.sums)]
    results = [f"new_{name}" for name in (*sums, *pass_.writes)]
    stores = [f"{element[name]} = {f'narrow(new_{name})' if name in held else f'new_{name}'}" for name in pass_.writes]
    stores += [f"{element[OUT]} = narrow(new_{PARAM})"] if OUT in element else []
    return [
        f"{', '.join(results)}, = function({', '.join([*operands, *constants])})",
        *(f"{total} = add({total}, wide(new_{total}) * wide(new_{total}))" for total in sums),
        *stores,
    ]


def around_units(outer: list[str]) -> str:
    """Write the loop over units around the lines for one."""
    header = [
        "def loop(table, units, scalars, partial, step, counters):",
        "    size = units.shape[1]",
        f"    first = counted(counters, {machine_code.TAKEN}, step)",
        "    while first < size:",
        "        last = min(first + step, size)",
        "        for unit in range(first, last):",
    ]
    footer = [
        f"        counted(counters, {machine_code.DONE}, last - first)",
        f"        first = counted(counters, {machine_code.TAKEN}, step)",
        "    look_on(counters, size)",
    ]
    return "\n".join([*header, *(f"            {line}" for line in outer), *footer])


SIGNATURE = types.void(
    types.Array(types.uint64, 2, "C"),
    types.Array(types.int64, 2, "C"),
    types.Array(types.float64, 2, "C"),
    types.Array(types.float64, 2, "C"),
    types.int64,
    types.Array(types.int64, 1, "C"),
)
"""Scalars are given in double precision, and rounded once to that of arithmetic."""

_LOOPS: dict[tuple[object, ...], machine_code.Loop] = {}


def compiled(pass_: Pass, dtypes: DtypePair, master: bool, write: Writer = text_of) -> machine_code.Loop:
    """Compile the loop of a pass; errors are those of `in_machine_code`."""
    key = (pass_.function, pass_.reads, pass_.writes, pass_.sums, dtypes, master, write)
    if key not in _LOOPS:
        _LOOPS[key] = machine_code.in_machine_code(loop_of(pass_, dtypes, master, write), SIGNATURE)
    return _LOOPS[key]


def loop_of(pass_: Pass, dtypes: DtypePair, master: bool, write: Writer = text_of) -> Callable[..., None]:
    """Write the loop of a pass and return it as a function of Python."""
    text = write(pass_, dtypes, master)
    held = np.dtype(np.uint16) if dtypes.narrow else dtypes.dtype
    widen, narrow = CONVERSIONS.get(dtypes.name, (None, None))
    around: dict[str, Any] = {
        "function": _called(pass_.function),
        "array_at": machine_code.array_at,
        "counted": machine_code.counted,
        "look_on": machine_code.look_on,
        "prefetch": machine_code.prefetch,
        "uint64": np.uint64,
        "compute": dtypes.compute.type,
        "held": held.type,
        "add": machine_code.add_in_any_order,
        "wide": np.float64,
        "widen": widen,
        "narrow": narrow,
    }
    # Under the kernel's file name, so that the cache lies beside it and an edited kernel is compiled again; the digest
    # stands for everything else that the machine code depends on.
    file = inspect.getfile(pass_.function)
    exec(compile(text, file, "exec"), around)
    loop: python_types.FunctionType = around["loop"]
    loop.__module__ = pass_.function.__module__
    loop.__qualname__ = f"{pass_.function.__name__}_{dtypes.name}_{_digest(text, pass_.function, widen, narrow)}"
    return loop


@cache
def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a pass as its loops call it: compiled once for a precision, which several dtypes share.

    Only loops call it, so the wrappers that Numba puts around a function for Python and C are not compiled.
    """
    called: Callable[..., Any] = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return called


def _digest(text: str, function: Callable[..., Any], *conversions: Any) -> str:
    parts = [text, __name__, machine_code.in_machine_code.__module__]  # a cache names the modules of what a loop calls
    for python in (function, *(dispatcher.py_func for dispatcher in conversions if dispatcher is not None)):
        code = python.__code__
        parts += [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
