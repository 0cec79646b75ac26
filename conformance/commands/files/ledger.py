"""Reads expected verdicts: a text file of lines ``optimizer dtype verdict[:name] reason``, compared strictly.

``#`` starts a comment line. A dtype may be a pattern: ``*`` is every dtype, ``*float16`` the two halves. A dialect is
named: ``adam * dialect:scaled_epsilon algorithm 1 of the paper``; of what diverges, the law that is broken may be. A
name that has spaces, as points of a family without a dialect have, is written without: ``dialect:a=1,b=2``. An entry
stands for every engine with that verdict.

An entry is stale, and reported, for each dtype that it covers and in which no engine has its verdict. What a target
does not offer needs no entry, and a pattern ignores it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import not_among
from optimetry.reference.errors import LedgerError
from optimetry.reports.results import OUTCOMES, Verdict

UNSUPPORTED = "unsupported"

NAMED = ("dialect", "diverges")
"""The verdicts that may have a name."""


@dataclass(frozen=True)
class LedgerEntry:
    """One expected verdict, and the line it stands on."""

    optimizer: str
    dtype: str
    verdict: str
    name: str
    reason: str
    line: int

    def covers(self, verdict: Verdict) -> bool:
        """Whether it is about the optimizer and dtype of a verdict."""
        return self.optimizer == verdict.optimizer and fnmatchcase(verdict.dtype, self.dtype)

    def expects(self, verdict: Verdict) -> bool:
        """Whether it expects this verdict."""
        return self.covers(verdict) and self.verdict == verdict.verdict and self.name in ("", name_of(verdict))

    def repeats(self, other: LedgerEntry) -> bool:
        """Whether both expect the same verdict in some dtype."""
        same = (self.optimizer, self.verdict, self.name) == (other.optimizer, other.verdict, other.name)
        return same and any(fnmatchcase(name, self.dtype) and fnmatchcase(name, other.dtype) for name in FORMATS)


@dataclass(frozen=True)
class Balance:
    """The comparison of a run with a ledger.

    Attributes:
        expected: verdicts that an entry expects, each with the first such entry.
        unexpected: verdicts of what is offered that neither conform nor are expected.
        stale: entries that do not describe what was measured, by a sentence for each dtype.
    """

    expected: list[tuple[Verdict, LedgerEntry]]
    unexpected: list[Verdict]
    stale: dict[str, LedgerEntry]


class Ledger:
    """Expected verdicts, and the file they were read from. Without entries, everything is expected to conform."""

    def __init__(self, path: Path | None = None, entries: Sequence[LedgerEntry] = ()) -> None:
        self.path = path
        self.entries = list(entries)

    def balance(self, verdicts: Iterable[Verdict]) -> Balance:
        """Compare the verdicts of a run with the entries for the optimizers and dtypes of that run."""
        judged = list(verdicts)
        expecting = [next((entry for entry in self.entries if entry.expects(verdict)), None) for verdict in judged]
        pairs = list(zip(judged, expecting, strict=True))
        return Balance(
            expected=[(verdict, entry) for verdict, entry in pairs if entry is not None],
            unexpected=[
                verdict
                for verdict, entry in pairs
                if entry is None and verdict.verdict not in ("conforms", UNSUPPORTED)
            ],
            stale={text: entry for entry in self.entries for text in self.stale(entry, judged)},
        )

    def stale(self, entry: LedgerEntry, verdicts: Iterable[Verdict]) -> Iterator[str]:
        """Yield a sentence for each dtype in which an entry does not describe these verdicts."""
        covered = [verdict for verdict in verdicts if entry.covers(verdict)]
        offered = [verdict for verdict in covered if verdict.verdict != UNSUPPORTED]
        for dtype in dict.fromkeys(verdict.dtype for verdict in offered or covered):
            same = [verdict for verdict in covered if verdict.dtype == dtype]
            if not any(entry.expects(verdict) for verdict in same):
                expected = f"{entry.optimizer} {dtype} {full(entry.verdict, entry.name)}"
                now = ", ".join(sorted({outcome_of(verdict) for verdict in same}))
                yield (
                    f"{self.path}, line {entry.line}: expects {expected}, but the verdict is {now}: remove or correct "
                    "the line"
                )


def name_of(verdict: Verdict) -> str | None:
    """Return the name of a verdict in a ledger: of the dialect, or of the law that is broken, in one word."""
    name = verdict.dialect or verdict.law
    return name and name.replace(" ", "")


def full(verdict: str, name: str | None) -> str:
    """Write a verdict as in a ledger: ``dialect:scaled_epsilon``."""
    return f"{verdict}:{name}" if name else verdict


def outcome_of(verdict: Verdict) -> str:
    """Write a verdict that was found as in a ledger."""
    return full(verdict.verdict, name_of(verdict))


def read(path: Path, optimizers: Sequence[str], dtypes: Sequence[str]) -> Ledger:
    """Read a ledger.

    Args:
        path: the file, in UTF-8.
        optimizers: the names an entry may have.
        dtypes: likewise; an entry's pattern must match one.

    Raises:
        LedgerError: with the path, the line and what is wrong with it.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"ledger {path}: {getattr(error, 'strerror', None) or 'not text in UTF-8'}") from None
    entries: list[LedgerEntry] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        try:
            entry = _parsed(text.strip(), number, optimizers, dtypes)
        except LedgerError as error:
            raise LedgerError(f"{path}, line {number}: {error}") from None
        for other in entries:
            if entry.repeats(other):
                raise LedgerError(f"{path}, line {number}: repeats line {other.line}: {' '.join(text.split()[:3])}")
        entries.append(entry)
    return Ledger(path, entries)


def _parsed(text: str, number: int, optimizers: Sequence[str], dtypes: Sequence[str]) -> LedgerEntry:
    words = text.split(maxsplit=3)
    if len(words) < 4:
        raise LedgerError(f"must be `optimizer dtype verdict[:name] reason`, is `{text}`")
    optimizer, dtype, outcome, reason = words
    verdict, _, name = outcome.partition(":")
    for kind, word, allowed, known in (
        ("optimizer", optimizer, optimizers, optimizer in optimizers),
        ("dtype", dtype, (*dtypes, "*"), any(fnmatchcase(name, dtype) for name in dtypes)),
        ("verdict", verdict, OUTCOMES, verdict in OUTCOMES),
    ):
        if not known:
            raise LedgerError(not_among(kind, word, allowed))
    if verdict == UNSUPPORTED:
        raise LedgerError(f"{optimizer} {dtype} {UNSUPPORTED}: remove the line, what is not offered needs no entry")
    if verdict == "dialect" and not name:
        raise LedgerError(f"{optimizer} {dtype} dialect: must name the dialect, as `dialect:NAME`")
    if name and verdict not in NAMED:
        raise LedgerError(f"{optimizer} {dtype} {outcome}: only {' and '.join(NAMED)} have names")
    return LedgerEntry(optimizer, dtype, verdict, name, reason, number)
