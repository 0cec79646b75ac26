"""Writes docs/confusion.md, the confusion matrix of diagnoses.

Rows are kinds of targets of which it is known what they compute. Members of a family must be named, honest equivalents
must conform, and a target that no family contains must diverge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimetry.conformance.selftest.faults import FAULTS, Fault, outcome
from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.known_targets import KnownVerdicts

PAGE = Path("docs") / "confusion.md"

NAMED, UNNAMED, IMPRECISE, FLUSHED, MISTAKEN, RUN, SPLIT = (
    "named dialect",
    "unnamed member of a family",
    "imprecise arithmetic",
    "subnormals flushed",
    "mistake of an adapter",
    "run that does more than its rule",
    "two rules, each on its cases",
)
EDITED, OUTSIDE, EQUIVALENT = "an edit of a formula, in no family", "outside every family", "equivalent"

MEMBERS = (NAMED, UNNAMED, IMPRECISE, FLUSHED, MISTAKEN, RUN, SPLIT)
"""The kinds whose computation must be named."""

KINDS = (*MEMBERS, EDITED, OUTSIDE, EQUIVALENT)

COLUMNS = ("named exactly", "named wrongly", "diverges", "error", "conforms")


@dataclass(frozen=True)
class KnownTarget:
    """One target whose computation is known.

    Attributes:
        kind: one of `KINDS`.
        name: what it is.
        optimizer: the subject.
        dtype: the dtype.
        expected: the right verdict, as `outcome` writes it.
        diagnosis: the verdict.
    """

    kind: str
    name: str
    optimizer: str
    dtype: str
    expected: str
    diagnosis: str

    @property
    def column(self) -> str:
        """Which of `COLUMNS` the diagnosis is."""
        if ": " in self.diagnosis:
            return "named exactly" if self.right else "named wrongly"
        return self.diagnosis

    @property
    def right(self) -> bool:
        """Whether the diagnosis is the right one."""
        return self.diagnosis == self.expected


def kind_of(fault: Fault) -> str:
    """The row that a fault belongs to."""
    kinds = {"dialect": NAMED, "imprecise": IMPRECISE, "conforms": FLUSHED}
    text, *_ = fault.outcome.split("; computed in ")  # the format changes no row
    verdict, _, parts = text.partition(": ")
    if text == FOUND:
        return EDITED
    if ", but " in parts:
        return RUN
    if verdict == "diverges" and parts:
        return SPLIT if ";" in parts else MISTAKEN
    return kinds.get(verdict, OUTSIDE)


def diagnosed(known: KnownVerdicts) -> Iterator[KnownTarget]:
    """Yield every target with its diagnosis."""
    for (name, dtype), verdict in known.faults.items():
        fault = FAULTS[name]
        yield KnownTarget(kind_of(fault), name, fault.optimizer, dtype, fault.outcome, outcome(verdict))
    for (optimizer, name, dtype), verdict in known.members.items():
        yield KnownTarget(UNNAMED, name, optimizer, dtype, f"dialect: {name}", outcome(verdict))
    for (optimizer, dtype), verdicts in known.equivalents.items():
        for style, verdict in verdicts.items():
            yield KnownTarget(EQUIVALENT, style, optimizer, dtype, "conforms", outcome(verdict))


def page(known: KnownVerdicts) -> str:
    """Write the page as Markdown: the same for the same code."""
    return page_of(list(diagnosed(known)))


def page_of(trials: Sequence[KnownTarget]) -> str:
    """Write the page on some targets."""
    members = [trial for trial in trials if trial.kind in MEMBERS]
    exact = sum(trial.right for trial in members)
    wrong = sum(trial.column == "named wrongly" for trial in trials)
    share = 100 * exact / len(members)
    lines = [
        "# Confusion matrix of diagnoses",
        "",
        "<!-- Written by `python -m optimetry.conformance.selftest.pages`; a test holds the figures. -->",
        "",
        f"Of {len(members)} targets that compute something known, {exact} are named exactly ({share:.1f} %).",
        f"Of all {len(trials)} targets, {wrong} are named wrongly.",
        "",
        "A target is one fault, one class of equal members of a family, or one honest equivalent, in one dtype. Named",
        "wrongly is any name that is not the expected one, for whatever kind of target.",
        "",
        f"| what it computes | targets | {' | '.join(COLUMNS)} |",
        f"|---|---:|{'---:|' * len(COLUMNS)}",
    ]
    for kind in KINDS:
        row = [trial for trial in trials if trial.kind == kind]
        counts = Counter(trial.column for trial in row)
        lines.append(f"| {kind} | {len(row)} | {' | '.join(str(counts[column]) for column in COLUMNS)} |")
    lines += ["", "## Not as expected", ""]
    lines += _table([trial for trial in trials if not trial.right]) or ["None."]
    for kind in KINDS[:-1]:
        lines += [
            "",
            f"## {kind[0].upper()}{kind[1:]}",
            "",
            *_table([trial for trial in trials if trial.kind == kind]),
        ]
    return "\n".join(lines) + "\n"


def _table(listed: Sequence[KnownTarget]) -> list[str]:
    rows = [f"| {x.optimizer} | {x.name} | {x.dtype} | {x.diagnosis.removeprefix('dialect: ')} |" for x in listed]
    return ["| subject | target | dtype | diagnosis |", "|---|---|---|---|", *rows] if rows else []
