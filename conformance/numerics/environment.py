"""Sets and checks the floating-point environment of this thread: rounding mode, subnormals, NumPy's error handling.

The judge and a target may share a process. A target that switches flush-to-zero on would change how the oracle itself
computes. So the environment is set for every evaluation of the oracle, and a target that changes it is reported.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

ROOM = 256
"""Bytes that hold any C library's ``fenv_t``."""

DEFAULT = ctypes.c_void_p(-1)
"""``FE_DFL_ENV`` of glibc and of musl: round to nearest, subnormals kept, no traps."""


@cache
def _library() -> Any:
    """Return the C library where its functions on the environment can be used, None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libm.so.6")
        library.fegetenv.argtypes = library.fesetenv.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return library


def changes() -> list[str]:
    """Name what differs from the default environment, in words; empty where nothing does."""
    with np.errstate(all="ignore"):
        one, half = np.array(1.0), np.array(2.0**-53)  # arrays, so that Python folds no constants
        up, down = one + half * 1.5, one + half * 0.5
        flushed = not float(np.array(2.0**-1022) * 0.5)  # where only operands are flushed, `not` reads it as zero
    found = []
    if flushed:
        found.append("subnormals are flushed to zero")
    if float(up) != 1.0 + 2.0**-52 or float(down) != 1.0 or float(-one - half * 0.5) != -1.0:
        found.append("results are not rounded to nearest")
    return found


@contextmanager
def default_environment() -> Iterator[None]:
    """Compute in the default environment inside the block, and restore the previous one behind it.

    Raises:
        RuntimeError: the environment is not the default one and cannot be set.
    """
    library = _library()
    before = ctypes.create_string_buffer(ROOM)
    with np.errstate(all="ignore"):
        if library is None:
            found = changes()
            if found:
                raise RuntimeError(
                    f"this process does not compute in the default floating-point environment: {', '.join(found)}"
                )
            yield
            return
        library.fegetenv(before)
        library.fesetenv(DEFAULT)
        try:
            yield
        finally:
            library.fesetenv(before)
