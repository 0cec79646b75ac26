"""Keeps finished blocks in a file that is only appended to, so that a run that was killed goes on behind the last."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from optimetry.reference.errors import UsageError
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import ResultsError

FILE = "unfinished-certificates.jsonl"
"""In the folder of results, until a run is finished: what the run is, then one line for each block, in order."""


class Blocks:
    """The finished blocks of a run, of which the file has every one and memory their sums; in memory alone without one.

    Args:
        path: the file, None for none. One of the same run that was not finished is continued.
        run: what the run is, as JSON; a file of another run is refused.

    Raises:
        UsageError: the file belongs to another run.
        ResultsError: it cannot be read.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path | None, run: dict[str, Any]) -> None:
        self._path = path
        self._counts: dict[tuple[str, ...], int] = {}
        self._sums: dict[tuple[str, ...], Certificate] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._read(path, run)
        self._file = path.open("a", encoding="utf-8", newline="\n")
        if self._file.tell() == 0:
            self._append(run)

    @property
    def pairs(self) -> int:
        """How many pairs the finished blocks have."""
        return sum(each.pairs for each in self._sums.values())

    def finished(self, begun: Certificate) -> tuple[int, Certificate]:
        """Return how many of a certificate's blocks are finished, and what it is with these."""
        return self._counts.get(begun.about, 0), self._sums.get(begun.about, begun)

    def add(self, number: int, block: Certificate) -> Certificate:
        """Keep the next block of a certificate; return what it is now."""
        if self._path is not None:
            self._append({"block": number, "certificate": dataclasses.asdict(block)})
        return self._count(block)

    def end(self) -> None:
        """Remove the file: the run is finished."""
        if self._path is not None:
            self._file.close()
            self._path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is not None:
            self._file.close()

    def _count(self, block: Certificate) -> Certificate:
        self._counts[block.about] = self._counts.get(block.about, 0) + 1
        self._sums[block.about] = self._sums[block.about] + block if block.about in self._sums else block
        return self._sums[block.about]

    def _append(self, fields: dict[str, Any]) -> None:
        self._file.write(json.dumps(fields, allow_nan=False) + "\n")
        self._file.flush()  # what the system has been given survives the process

    def _read(self, path: Path, run: dict[str, Any]) -> None:
        """Count the blocks of a file, and cut off a last line that was not finished."""
        whole = 0
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if not text.endswith(b"\n"):
                    break
                try:
                    fields = json.loads(text)
                    if number > 1:
                        self._count(Certificate.of(fields["certificate"]))
                except (ValueError, KeyError, TypeError):
                    raise ResultsError(f"{path}, line {number}: not a line of unfinished certificates") from None
                if number == 1 and fields != run:
                    other = ", ".join(f"{name} {fields.get(name)!r}" for name in run if fields.get(name) != run[name])
                    raise UsageError(f"{path}: of an unfinished run with other settings ({other}): finish or remove it")
                whole += len(text)
        with path.open("r+b") as file:
            file.truncate(whole)
