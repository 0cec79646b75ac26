"""Declares exhibits: real bugs of public trackers as targets of a few lines, and reports that were none.

An exhibit is a `Fault`, written from the description of a bug: the documented rule with that one defect. Where the bug
is in a rule that no book has, the exhibit shows the same mistake in a rule that has the same term, and says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from optimetry.conformance.selftest.faults.fault import Fault, Start
from optimetry.conformance.selftest.faults.mutations import mutated

HERE = Path(__file__).parent


@dataclass(frozen=True)
class BugReport:
    """Where and when a bug was reported.

    Attributes:
        link: the thread or commit.
        year: of that, 0 where it was not read.
        lived: how long it was there, empty where that is unknown.
        tests: what upstream's tests did: ``missed it``, ``none`` (there were none) or ``not stated``; empty for what is
            no bug.
        same_as: the exhibit that shows it, where that was reported under another name.
    """

    link: str
    year: int = 0
    lived: str = ""
    tests: str = ""
    same_as: str = ""


@dataclass(frozen=True)
class Beyond:
    """A bug that no exhibit shows.

    Attributes:
        computed: what was wrong.
        takes: what a suite would have to do to show it.
    """

    computed: str
    takes: str


@dataclass(frozen=True)
class Change:
    """What a bug has changed in the suite.

    Attributes:
        surprise: what was not expected of it.
        change: what was added because of it.
        fault: a planted fault, which is rejected by what was added.
    """

    surprise: str
    change: str
    fault: str


@dataclass(frozen=True)
class Exhibit:
    """One bug, or one honest target, with the verdict that it must get.

    Attributes:
        kind: what was wrong, one of the kinds that `enter` was given.
        fault: the target; its name is the bug's, and its outcome the right verdict.
        honest: whether it must be accepted: it conforms, or computes a variant that is named.
    """

    kind: str
    fault: Fault
    honest: bool = False

    @property
    def name(self) -> str:
        """The project and the number of its issue, as in the history."""
        return self.fault.name


EXHIBITS: dict[str, Exhibit] = {}
"""Every exhibit by name; filled by `load`, or when `optimetry.conformance.selftest.museum.exhibits` is imported."""


@cache
def load() -> None:
    """Enter the exhibits."""
    import_module("optimetry.conformance.selftest.museum.exhibits")


@cache
def history() -> dict[str, BugReport]:
    """Return where each bug was reported, by name."""
    return {name: BugReport(**row) for name, row in _read("history.toml").items()}


@cache
def beyond() -> dict[str, Beyond]:
    """Return the bugs that no exhibit shows, by name."""
    return {name: Beyond(**row) for name, row in _read("beyond.toml").items()}


@cache
def changes() -> dict[str, Change]:
    """Return what bugs have changed, by name."""
    return {name: Change(**row) for name, row in _read("changes.toml").items()}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def bug(name: str, optimizer: str, defect: str, start: Start, outcome: str = "diverges", **more: Any) -> Fault:
    """Declare an exhibit: the bug's name, the subject that shows it, one sentence, and what it does."""
    return Fault(name, optimizer, defect, start, outcome=outcome, **more)


def edited(name: str, optimizer: str, defect: str, *changes: tuple[str, str], outcome: str = "diverges") -> Fault:
    """Declare an exhibit that is the subject with other texts in its source, as `mutated` puts them there."""
    return bug(name, optimizer, defect, mutated(optimizer, *changes), outcome)


def enter(kind: str, faults: Sequence[Fault], *, honest: bool = False) -> None:
    """Enter exhibits of one kind.

    Raises:
        ValueError: there is one of that name.
    """
    for fault in faults:
        if fault.name in EXHIBITS:
            raise ValueError(f"exhibit {fault.name} is entered twice")
        EXHIBITS[fault.name] = Exhibit(kind, fault, honest)
