"""Holds a folder of results for one run, so that two runs cannot write into the same files."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from optimetry.conformance.commands.files.results_folder import writing
from optimetry.reference.errors import UsageError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

FILE = "in-use"
"""In the folder, while a run writes there: which one that is."""


@contextmanager
def held(folder: Path | None) -> Iterator[None]:
    """Hold a folder until the block ends; without one, and on Windows, nothing is held.

    The system releases it when the process that holds it ends, in whatever way.

    Raises:
        UsageError: another run holds it, or it cannot be written.
    """
    if folder is None or fcntl is None:
        yield
        return
    with _locked(folder) as file:
        file.write(f"process {os.getpid()} on {platform.node()}, since {time.strftime('%Y-%m-%d %H:%M:%S %z')}: ")
        file.write(shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))
        file.flush()
        try:
            yield
        finally:
            (folder / FILE).unlink(missing_ok=True)


def _locked(folder: Path) -> IO[str]:
    """Open the file of a folder, locked and empty."""
    path = folder / FILE
    while True:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            file = path.open("a+", encoding="utf-8", errors="backslashreplace")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                by = file.read() or "another run"
            raise UsageError(f"--out {folder}: in use by {by}; wait until it ends, or give another folder") from None
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            file.truncate(0)
            return file
        file.close()  # the run before has ended, and removed the file, since it was opened
