"""Keeps the finished pieces of a run in a file that is only appended to, so that a killed run can be resumed."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from optimetry.reference.errors import UsageError
from optimetry.reports.results import ResultsError


class Appended(ABC):
    """The finished pieces of a run, in a file of lines of JSON: the settings of the run, then a line for each piece.

    Args:
        path: the file, None for none. An unfinished file of the same run is continued; an incomplete last line is cut
            off.
        run: the settings of the run, as JSON; a file of another run is refused.

    Attributes:
        of: the contents of the file, for error texts.

    Raises:
        UsageError: the file belongs to another run.
        ResultsError: it cannot be read.
        OSError: it cannot be written.
    """

    of: ClassVar[str]

    def __init__(self, path: Path | None, run: dict[str, Any]) -> None:
        self.path, self._file = path, None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._continue(path, run)
        self._file = path.open("a", encoding="utf-8", newline="\n")
        if self._file.tell() == 0:
            self.append(run)

    @abstractmethod
    def _read(self, fields: dict[str, Any]) -> object:
        """Count the piece of a line in a file that is continued; ValueError, KeyError or TypeError where it is none."""

    def append(self, fields: dict[str, Any]) -> None:
        """Add a line."""
        if self._file is not None:
            self._file.write(json.dumps(fields, allow_nan=False) + "\n")
            self._file.flush()  # what the system has been given survives the process

    def lines(self) -> Iterator[dict[str, Any]]:
        """Read the finished pieces again, line by line."""
        if self.path is not None:
            with self.path.open(encoding="utf-8") as file:
                next(file)
                yield from map(json.loads, file)

    def end(self) -> None:
        """Remove the file: the run is finished."""
        self.close()
        if self.path is not None:
            self.path.unlink()

    def close(self) -> None:
        """Close the file, which stays."""
        if self._file is not None:
            self._file.close()

    def _continue(self, path: Path, run: dict[str, Any]) -> None:
        whole = 0
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if not text.endswith(b"\n"):
                    break
                try:
                    fields = json.loads(text)
                    if number > 1:
                        self._read(fields)
                    elif not isinstance(fields, dict):
                        raise TypeError("the settings of a run are an object")
                except (ValueError, KeyError, TypeError):
                    raise ResultsError(f"{path}, line {number}: not a line of {self.of}") from None
                if number == 1 and fields != run:
                    other = ", ".join(f"{name} {fields.get(name)!r}" for name in run if fields.get(name) != run[name])
                    raise UsageError(f"{path}: of an unfinished run with other settings ({other}): finish or remove it")
                whole += len(text)
        os.truncate(path, whole)
