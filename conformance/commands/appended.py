"""Keeps the finished pieces of a run in a file that is only appended to, so that a killed run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from optimetry.reference.errors import UsageError
from optimetry.reports.results import ResultsError


class Appended:
    """A file of lines of JSON: the settings of a run, then one line for each finished piece.

    Args:
        path: the file. An unfinished file of the same run is continued; an incomplete last line is cut off.
        run: the settings of the run, as JSON; a file of another run is refused.
        take: called with each line of a file that is continued.
        of: the contents of the file, for error texts.

    Raises:
        UsageError: the file belongs to another run.
        ResultsError: it cannot be read.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, run: dict[str, Any], take: Callable[[dict[str, Any]], object], of: str) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._continue(run, take, of)
        self._file = path.open("a", encoding="utf-8", newline="\n")
        if self._file.tell() == 0:
            self.append(run)

    def append(self, fields: dict[str, Any]) -> None:
        """Add a line."""
        self._file.write(json.dumps(fields, allow_nan=False) + "\n")
        self._file.flush()  # what the system has been given survives the process

    def lines(self) -> Iterator[dict[str, Any]]:
        """Read the finished pieces again, line by line."""
        with self.path.open(encoding="utf-8") as file:
            next(file)
            for text in file:
                yield json.loads(text)

    def end(self) -> None:
        """Remove the file: the run is finished."""
        self.close()
        self.path.unlink()

    def close(self) -> None:
        """Close the file, which stays."""
        self._file.close()

    def _continue(self, run: dict[str, Any], take: Callable[[dict[str, Any]], object], of: str) -> None:
        whole = 0
        with self.path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if not text.endswith(b"\n"):
                    break
                try:
                    fields = json.loads(text)
                    if number > 1:
                        take(fields)
                except (ValueError, KeyError, TypeError):
                    raise ResultsError(f"{self.path}, line {number}: not a line of {of}") from None
                if number == 1 and fields != run:
                    other = ", ".join(f"{name} {fields.get(name)!r}" for name in run if fields.get(name) != run[name])
                    raise UsageError(
                        f"{self.path}: of an unfinished run with other settings ({other}): finish or remove it"
                    )
                whole += len(text)
        with self.path.open("r+b") as file:
            file.truncate(whole)
