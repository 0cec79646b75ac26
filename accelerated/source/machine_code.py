"""Compiles to machine code with Numba, and adds the operations that Numba lacks.

Several threads run one loop. Each takes units of work by raising a shared counter, until none is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from optimetry.reference.errors import EngineUnavailableError

Loop = Callable[..., None]

TAKEN, DONE = 0, 1
"""The two counters of units that the threads of one loop share."""

LOOKS = 20_000
"""How often a thread checks whether all units are done: for less than a tenth of a millisecond."""


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    return types.voidptr(types.uint64), lambda context, builder, signature, arguments: builder.inttoptr(
        arguments[0], context.get_value_type(types.voidptr)
    )


@intrinsic
def add_in_any_order(context: Any, total: Any, term: Any) -> Any:
    """Return a sum that may be vectorised. No other operation may be regrouped, and none may be fused."""
    return types.float64(types.float64, types.float64), lambda context, builder, signature, arguments: builder.fadd(
        *arguments, flags=("reassoc", "nsz")
    )


@intrinsic
def fetch_and_add(context: Any, address: Any, step: Any) -> Any:
    """Add to the number in memory and return its old value: no two threads get the same."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(types.int64)))
        return builder.atomic_rmw("add", pointer, arguments[1], "acq_rel")

    return types.int64(types.uint64, types.int64), code


@intrinsic
def _loaded(context: Any, address: Any) -> Any:
    """Return the number in memory now; all that was written before it can be read, too."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(types.int64)))
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.uint64), code


@intrinsic
def prefetch(context: Any, address: Any) -> Any:
    """Ask for the cache line at an address, which may lie beyond all arrays: nothing is read."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.inttoptr(arguments[0], byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.none(types.uint64), code


@njit
def counted(counters: Any, which: Any, step: Any) -> Any:
    """Raise a counter and return its old value."""
    return fetch_and_add(np.uint64(counters.ctypes.data) + np.uint64(8 * which), step)


@njit
def look_on(counters: Any, total: Any) -> None:
    """Return when all units are done, or after a moment."""
    done = np.uint64(counters.ctypes.data) + np.uint64(8 * DONE)
    for _ in range(LOOKS):
        if _loaded(done) >= total:
            break


@njit
def array_at(address: Any, start: Any, count: Any, dtype: Any) -> Any:
    """Return the elements ``start`` to ``start + count`` of the array at an address."""
    return carray(_pointer(address), (start + count,), dtype)[start:]


def in_machine_code(function: Callable[..., None], signature: Any, *, cache: bool = True) -> Loop:
    """Compile a function for one signature, or read it from the cache.

    Where no folder can take a cache, writing to it fails, or the entry of an older version cannot be read, it is
    compiled without a cache.

    Raises:
        EngineUnavailableError: Numba does not compile here.
    """
    try:
        dispatcher = njit(nogil=True, error_model="numpy", cache=cache, no_cfunc_wrapper=True)(function)
        dispatcher.compile(signature)
    except Exception as error:
        if cache and isinstance(
            error, RuntimeError | OSError | ImportError
        ):  # no folder; a full disk; a renamed module
            return in_machine_code(function, signature, cache=False)
        why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise EngineUnavailableError(f"Numba does not compile here: {why}") from error
    dispatcher.disable_compile()
    loop: Loop = dispatcher
    return loop
