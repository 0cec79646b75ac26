"""Keeps finished blocks in a file that is only appended to, so that a killed run can be resumed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from optimetry.conformance.commands.files.appended import Appended
from optimetry.reports.certificate import Certificate

FILE = "unfinished-certificates.jsonl"
"""In the folder of results, until a run is finished: what the run is, then one line for each block, in order."""


class Blocks(Appended):
    """The finished blocks of a run: each in a file, if there is one, and their sums in memory."""

    of = "unfinished certificates"

    def __init__(self, path: Path | None, run: dict[str, Any]) -> None:
        self._counts: dict[tuple[str, ...], int] = {}
        self._sums: dict[tuple[str, ...], Certificate] = {}
        super().__init__(path, run)

    @property
    def pairs(self) -> int:
        """How many pairs the finished blocks have."""
        return sum(each.pairs for each in self._sums.values())

    def finished(self, begun: Certificate) -> tuple[int, Certificate]:
        """Return how many blocks of a certificate are finished, and the certificate with these added."""
        return self._counts.get(begun.about, 0), self._sums.get(begun.about, begun)

    def add(self, number: int, block: Certificate) -> Certificate:
        """Keep the next block of a certificate; return the certificate with it added."""
        self.append({"block": number, "certificate": dataclasses.asdict(block)})
        return self._count(block)

    def _count(self, block: Certificate) -> Certificate:
        self._counts[block.about] = self._counts.get(block.about, 0) + 1
        self._sums[block.about] = self._sums[block.about] + block if block.about in self._sums else block
        return self._sums[block.about]

    def _read(self, fields: dict[str, Any]) -> None:
        self._count(Certificate.of(fields["certificate"]))
