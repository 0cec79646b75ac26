"""Becomes a target program: a script that limits its own process, and then runs the program in its place.

What a new process does to itself must happen after the fork and before the program. The judge may have threads (JAX
starts some as soon as it is imported), and Python between fork and exec of such a process may wait for ever for a lock
that another thread held. So the judge starts this script, which has one thread.

    starting.py DESCRIPTOR MEMORY PROGRAM ARGUMENT…

DESCRIPTOR is a pipe on which the number of the error is written if the program cannot be started; it closes when it
is. MEMORY is a number of bytes, or `-` for no limit.
"""

from __future__ import annotations

import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process gets when its parent ends, so that a killed judge leaves no target behind."""


def limit(memory: int | None) -> None:
    """End with the parent, leave no core file, and hold no more memory than this.

    Args:
        memory: bytes. On Linux it is memory that can be written, so that address space that is only reserved, as
            JavaScript engines and GPU libraries do, does not count.
    """
    import resource

    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if memory is not None:
        limited = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
        most = resource.getrlimit(limited)[1]
        if most == resource.RLIM_INFINITY or memory < most:
            resource.setrlimit(limited, (memory, memory))


def main() -> None:
    """Run the program that the arguments name."""
    descriptor, memory, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    os.set_inheritable(descriptor, False)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python: a program expects to be ended by them
        signal.signal(ignored, signal.SIG_DFL)
    try:
        limit(None if memory == "-" else int(memory))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(descriptor, str(error.errno).encode())
        sys.exit(127)


if __name__ == "__main__":
    main()
