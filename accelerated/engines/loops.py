"""The loop around a scalar function: its text for one pass and format, compiled with Numba and cached on disk.

Numba cannot spell "the next argument is an element of the next array" so that LLVM vectorises it, therefore the loop is
text. For Adam in float32 it reads, in short::

    for unit in whatever is left, taken a few at a time:
        k, n, r = item[unit], count[unit], row[item[unit]]
        param = array_at(table[0, k], start[unit], n, compute)
        ...
        lr_t, beta1, ... = scalars[r, 0], scalars[r, 1], ...
        for i in range(n):
            param[i], moment1[i], moment2[i] = function(param[i], grad[i], moment1[i], moment2[i], lr_t, beta1, ...)
"""

from __future__ import annotations

import hashlib
import inspect
import types as python_types
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic, overload

from optimetry.accelerated.engines.halves import CONVERSIONS
from optimetry.accelerated.formats import Format
from optimetry.accelerated.kernels.kernel import OUT, PARAM, Pass, select

Loop = Callable[..., None]


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    return types.voidptr(types.uint64), lambda context, builder, signature, arguments: builder.inttoptr(
        arguments[0], context.get_value_type(types.voidptr)
    )


@intrinsic
def _add_in_any_order(context: Any, total: Any, term: Any) -> Any:
    """A sum that may be vectorised. No other operation may be regrouped, and none may be fused."""
    return types.float64(types.float64, types.float64), lambda context, builder, signature, arguments: builder.fadd(
        *arguments, flags=("reassoc", "nsz")
    )


@intrinsic
def _fetch_and_add(context: Any, address: Any, step: Any) -> Any:
    """What was in memory, after adding to it: no two threads get the same."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(types.int64)))
        return builder.atomic_rmw("add", pointer, arguments[1], "monotonic")

    return types.int64(types.uint64, types.int64), code


@njit
def _take(next_unit: Any, step: Any) -> Any:
    """The first of the next units that no thread has taken."""
    return _fetch_and_add(np.uint64(next_unit.ctypes.data), step)


@njit
def _array_at(address: Any, start: Any, count: Any, dtype: Any) -> Any:
    return carray(_pointer(address), (start + count,), dtype)[start:]


@overload(select)
def _select(condition: Any, chosen: Any, otherwise: Any) -> Any:
    kind = chosen

    def implementation(condition: Any, chosen: Any, otherwise: Any) -> Any:
        return chosen if condition else kind(otherwise)

    return implementation


def text_of(one: Pass, scalars: int, form: Format, master: bool) -> str:
    """The source of the loop."""
    names, held = one.arrays(master=master), one.held(form, master=master)
    given = [f"widen({name}[i])" if name in held else f"{name}[i]" for name in one.reads]
    dtype = {name: "held" if name in held else "compute" for name in names}
    constants = [f"c{j}" for j in range(scalars)]
    sums = [f"sum{j}" for j in range(one.sums)]
    results = [f"new_{name}" for name in (*sums, *one.writes)]
    stores = [f"{name}[i] = {f'narrow(new_{name})' if name in held else f'new_{name}'}" for name in one.writes]
    stores += [f"{OUT}[i] = narrow(new_{PARAM})"] if OUT in names else []
    outer = [
        "k, n = item[unit], count[unit]",
        *(f"{name} = array_at(table[{j}, k], start[unit], n, {dtype[name]})" for j, name in enumerate(names)),
        *(f"{constant} = scalars[row[k], {j}]" for j, constant in enumerate(constants)),
        *(f"{total} = 0.0" for total in sums),
        "for i in range(n):",
        f"    {', '.join(results)}, = function({', '.join([*given, *constants])})",
        *(f"    {total} = add({total}, wide(new_{total}) * wide(new_{total}))" for total in sums),
        *(f"    {store}" for store in stores),
        *(f"partial[unit, {j}] = {total}" for j, total in enumerate(sums)),
    ]
    header = [
        "def loop(table, item, start, count, row, scalars, partial, next_unit, step):",
        "    first = take(next_unit, step)",
        "    while first < item.size:",
        "        for unit in range(first, min(first + step, item.size)):",
    ]
    return "\n".join([*header, *(f"            {line}" for line in outer), "        first = take(next_unit, step)"])


_LOOPS: dict[tuple[object, ...], Loop] = {}


def compiled(one: Pass, scalars: int, form: Format, master: bool) -> Loop:
    """The loop of a pass, compiled for its one signature, or read from the cache.

    Where no folder can take a cache, or writing to it fails, the loop is compiled without.
    """
    key = (one.function, one.reads, one.writes, one.sums, scalars, form, master)
    if key not in _LOOPS:
        try:
            _LOOPS[key] = _compiled(one, scalars, form, master, cache=True)
        except (RuntimeError, OSError):  # Numba finds no folder for a cache; a full disk
            _LOOPS[key] = _compiled(one, scalars, form, master, cache=False)
    return _LOOPS[key]


def _compiled(one: Pass, scalars: int, form: Format, master: bool, *, cache: bool) -> Loop:
    text = text_of(one, scalars, form, master)
    held = np.dtype(np.uint16) if form.narrow else form.dtype
    widen, narrow = CONVERSIONS.get(form.name, (None, None))
    around: dict[str, Any] = {
        "function": njit(error_model="numpy")(one.function),
        "array_at": _array_at,
        "take": _take,
        "compute": form.compute.type,
        "held": held.type,
        "add": _add_in_any_order,
        "wide": np.float64,
        "widen": widen,
        "narrow": narrow,
    }
    # Under the kernel's file name, so that the cache lies beside it and an edited kernel is compiled again; the digest
    # stands for everything else that the machine code depends on.
    file = inspect.getfile(one.function)
    exec(compile(text, file, "exec"), around)
    loop: python_types.FunctionType = around["loop"]
    loop.__module__ = one.function.__module__
    loop.__qualname__ = f"{one.function.__name__}_{form.name}_{_digest(text, one.function, widen, narrow)}"
    dispatcher = njit(nogil=True, error_model="numpy", cache=cache)(loop)
    dispatcher.compile(_signature(form))
    dispatcher.disable_compile()
    compiled_loop: Loop = dispatcher
    return compiled_loop


def _signature(form: Format) -> Any:
    whole = types.Array(types.int64, 1, "C")
    addresses = types.Array(types.uint64, 2, "C")
    numbers = types.float32 if form.compute == np.float32 else types.float64
    return types.void(
        addresses,
        *(whole,) * 4,
        types.Array(numbers, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.int64, 1, "C"),
        types.int64,
    )


def _digest(text: str, function: Callable[..., Any], *conversions: Any) -> str:
    parts = [text]
    for python in (function, *(dispatcher.py_func for dispatcher in conversions if dispatcher is not None)):
        code = python.__code__
        parts += [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
