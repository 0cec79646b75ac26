"""Starts a target program within limits: `started` runs this file as a script, which then becomes the program.

What a new process does to itself must happen after the fork and before the program. The judge may have threads (JAX
starts some as soon as it is imported), and Python between fork and exec of such a process may wait for ever for a lock
that another thread held. The script has one thread.

    starting.py DESCRIPTOR MEMORY PROGRAM ARGUMENT…

DESCRIPTOR is a pipe on which the number of the error is written if the program cannot be started; it closes when it
is. MEMORY is a number of bytes, or `-` for no limit.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process gets when its parent ends, so that a killed judge leaves no target behind."""


def python_command(python: str | None, spec: str) -> list[str]:
    """Return the command that plays a Python target: under this interpreter, or another."""
    return [python or sys.executable, str(Path(__file__).with_name("python_harness.py")), spec]


def started(command: Sequence[str], memory: int | None, path: str | None = None) -> subprocess.Popen[bytes]:
    """Start a program with pipes, as the leader of a session, so that all that it starts can be ended with it.

    Args:
        command: the program and its arguments.
        memory: bytes of memory that each of its processes may hold, None for no limit; without effect on Windows.
        path: its ``PYTHONPATH``, None for that of this process.

    Raises:
        OSError: there is no such program, or it cannot be run.
    """
    import subprocess  # not at the top: the script does not need it

    environment = None if path is None else os.environ | {"PYTHONPATH": path}

    def popen(command: Sequence[str], kept: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            start_new_session=True,
            pass_fds=kept,
            env=environment,
        )

    if sys.platform == "win32":
        return popen(command)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as errors:
        try:
            limited = [str(writer), "-" if memory is None else str(memory), *command]
            process = popen([sys.executable, "-I", "-S", __file__, *limited], (writer,))
        finally:
            os.close(writer)
        number = errors.read()  # ends when the program runs, or cannot
    if number:
        process.communicate()
        raise OSError(int(number), os.strerror(int(number)))
    return process


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
