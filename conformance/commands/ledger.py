"""Expected verdicts: a text file of lines ``optimizer dtype verdict reason``, held strictly.

An entry stands for every engine of that optimizer in that dtype that has that verdict. ``#`` starts a comment line.
An entry that no engine matches, because all have become better or worse, is stale, and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimetry.reference.errors import LedgerError
from optimetry.reports.results import OUTCOMES, Verdict


@dataclass(frozen=True)
class Entry:
    """One expected verdict, and the line it stands on."""

    optimizer: str
    dtype: str
    verdict: str
    reason: str
    line: int


@dataclass(frozen=True)
class Balance:
    """What a ledger makes of a run.

    Attributes:
        unexpected: verdicts that neither conform nor are expected.
        stale: a sentence for each entry that does not describe what was measured.
    """

    unexpected: list[Verdict]
    stale: list[str]


class Ledger:
    """Expected verdicts, and the file they were read from. Without entries, everything is expected to conform."""

    def __init__(self, path: Path | None = None, entries: Sequence[Entry] = ()) -> None:
        self.path = path
        self.entries = list(entries)

    def balance(self, verdicts: Iterable[Verdict]) -> Balance:
        """Compare the verdicts of a run with the entries for the optimizers and dtypes of that run."""
        found = list(verdicts)
        judged = {(verdict.optimizer, verdict.dtype) for verdict in found}
        expected = {(entry.optimizer, entry.dtype, entry.verdict) for entry in self.entries}
        return Balance(
            unexpected=[
                verdict
                for verdict in found
                if verdict.verdict != "conforms" and (verdict.optimizer, verdict.dtype, verdict.verdict) not in expected
            ],
            stale=[
                stale
                for entry in self.entries
                if (entry.optimizer, entry.dtype) in judged and (stale := self._stale(entry, found))
            ],
        )

    def _stale(self, entry: Entry, verdicts: Iterable[Verdict]) -> str | None:
        same = [v for v in verdicts if (v.optimizer, v.dtype) == (entry.optimizer, entry.dtype)]
        if any(verdict.verdict == entry.verdict for verdict in same):
            return None
        now = ", ".join(sorted({verdict.verdict for verdict in same}))
        return (
            f"{self.path}, line {entry.line}: expects {entry.optimizer} {entry.dtype} {entry.verdict}, "
            f"but the verdict is {now}: remove or correct the line"
        )


def read(path: Path, optimizers: Sequence[str], dtypes: Sequence[str]) -> Ledger:
    """Read a ledger.

    Args:
        path: the file, in UTF-8.
        optimizers: the names an entry may have.
        dtypes: likewise.

    Raises:
        LedgerError: with the path, the line and what is wrong with it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path}: {getattr(error, 'strerror', None) or 'not text in UTF-8'}") from None
    entries: dict[tuple[str, str, str], Entry] = {}
    for number, text in enumerate(lines, start=1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        words = text.split(maxsplit=3)
        where = f"{path}, line {number}"
        if len(words) < 4:
            raise LedgerError(f"{where}: must be `optimizer dtype verdict reason`, is `{text.strip()}`")
        optimizer, dtype, verdict, reason = words
        entry = Entry(optimizer, dtype, verdict, reason, number)
        for kind, name, allowed in (
            ("optimizer", entry.optimizer, optimizers),
            ("dtype", entry.dtype, dtypes),
            ("verdict", entry.verdict, OUTCOMES),
        ):
            if name not in allowed:
                raise LedgerError(f"{where}: unknown {kind} {name!r}, must be one of: {', '.join(allowed)}")
        key = (entry.optimizer, entry.dtype, entry.verdict)
        if key in entries:
            raise LedgerError(f"{where}: repeats line {entries[key].line}: {' '.join(key)}")
        entries[key] = entry
    return Ledger(path, list(entries.values()))
