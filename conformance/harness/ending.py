"""How a process ends: what its exit code says, and what ends it with its parent or beyond its memory."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process gets when its parent ends, so that a killed judge leaves no target behind."""


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "closed its connection"
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def end_with_parent(memory: int | None) -> Callable[[], None] | None:
    """Return what a new process does before it becomes its program, None where the system has nothing of the kind.

    Args:
        memory: bytes that it may hold, None for no limit. On Linux it is memory that can be written, so that address
            space that is only reserved, as JavaScript engines and GPU libraries do, does not count.
    """
    if sys.platform == "win32":
        return None
    import resource

    library = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
    limited = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS

    def prepare() -> None:
        if library is not None:
            library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if memory is not None:
            resource.setrlimit(limited, (memory, memory))

    return prepare
