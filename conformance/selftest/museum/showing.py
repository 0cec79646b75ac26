"""Judges exhibits as any target is judged, and tries on them the kind of test that optimizers usually have."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.judging.examine import examined
from optimetry.conformance.selftest.faults.fault import FOUND, outcome, rejected_by
from optimetry.conformance.selftest.museum.exhibit import EXHIBITS, Exhibit, load
from optimetry.conformance.selftest.naive_test import passes_naive_test
from optimetry.conformance.targets.session import Guard

DECLARED, SEARCHED, BY_ITS_LAW, NOT_NAMED = "declared", "found", "by its law", "no"
"""How a defect is named: by what somebody has declared, by the search, by a law that states it, or not at all."""

LONGER = dict.fromkeys(("dl4j-953", "convnetjs-70", "flux-1962"), 60.0)
"""Exhibits that are two edits away from the document: the seconds that a search for them may take at least."""


@dataclass(frozen=True)
class Shown:
    """What the suite makes of one exhibit.

    Attributes:
        name: the exhibit's.
        outcome: the verdict, as `optimetry.conformance.selftest.faults.fault.outcome` writes it.
        rejected_by: the law that is broken, ``oracle`` or ``protocol``; None where nothing is.
        formula: what it computes, as a formula, where the verdict has one.
        runs: of the target, until the suite had decided that it is not the documented rule, or tried all it had.
        usual: whether a usual test notices it.
        search: how many seconds a search for two edits could take; None for no search at all.
        seconds: of the processor's time, in total.
    """

    name: str
    outcome: str
    rejected_by: str | None
    formula: str | None
    runs: int
    usual: bool
    search: float | None
    seconds: float

    @property
    def exhibit(self) -> Exhibit:
        """What it is about."""
        return EXHIBITS[self.name]

    @property
    def right(self) -> bool:
        """Whether the verdict is the one that the exhibit must get."""
        return self.outcome == self.exhibit.fault.outcome

    @property
    def rejected(self) -> bool:
        """Whether the suite says that it is not the documented rule."""
        return self.rejected_by is not None

    @property
    def named(self) -> str:
        """How the defect is named."""
        if FOUND in self.outcome or " -> " in self.outcome:
            return SEARCHED
        law = self.exhibit.fault.rejected_by
        return DECLARED if ": " in self.outcome else BY_ITS_LAW if law and law == self.rejected_by else NOT_NAMED

    @property
    def wrong(self) -> bool:
        """Whether it has a declared name that is not its own; what the search finds holds on every case."""
        return self.named == DECLARED and not self.right


def shown(name: str, effort: str, search: float | None) -> Shown:
    """Judge one exhibit in its first dtype."""
    load()
    search = None if search is None else max(search, LONGER.get(name, 0.0))
    fault, runs, began = EXHIBITS[name].fault, Counter[str](), time.process_time()
    guard = Guard(fault.time_limit, lambda: runs.update(["run"]))
    (examination,) = examined(
        [fault.target()],
        fault.optimizer,
        fault.dtypes[0],
        effort=EFFORTS[effort],
        seed=0,
        guard=guard,
        search=search,
    )
    taken = runs.total()
    verdict = examination.verdict()
    return Shown(
        name=name,
        outcome=outcome(verdict),
        rejected_by=rejected_by(verdict),
        formula=verdict.computes.formula,
        runs=taken,
        usual=not passes_naive_test(fault),
        search=search,
        seconds=round(time.process_time() - began, 1),
    )


def written(results: Sequence[Shown], **about: object) -> str:
    """Write what was made of exhibits as lines of JSON, the first of which says how they were judged."""
    rows = [about, *map(asdict, results)]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def read(file: Path) -> tuple[dict[str, object], list[Shown]]:
    """Read what `written` wrote."""
    load()
    about, *rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return about, [Shown(**row) for row in rows]
