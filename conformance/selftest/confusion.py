"""Writes the confusion matrix of diagnoses: ``python -m optimetry.conformance.selftest.confusion``.

Rows are kinds of targets of which it is known what they compute. Members of a family must be named, honest equivalents
must conform, and a target that no family contains must diverge.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.known.points import PointClass, classes_of
from optimetry.conformance.selftest.faults import FAULTS, Fault, outcome
from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.selftest.sensitivity import DTYPES, HALF_QUICK, equivalents, judged
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict

PAGE = Path("docs") / "confusion.md"

TEN_CASES = Effort("few", 10, 1)
"""The cases on which equivalents are tried here; the page on sensitivity uses more."""

LARGEST = 32
"""The most unnamed classes of a family that are tried; of more, every second, third, … is."""

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


def class_verdict(member: PointClass, dtype: str) -> Verdict:
    """Return the verdict on a class."""
    (verdict,) = judge([computing(member)], member.optimizer, dtype, effort=HALF_QUICK, seed=0)
    return verdict


def unnamed(optimizer: str) -> Sequence[PointClass]:
    """Return the unnamed classes, or at most `LARGEST` of them, evenly chosen."""
    members = [member for member in classes_of(optimizer) if not member.documented and member.dialect is None]
    return members[:: -(-len(members) // LARGEST) or 1]


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


def trials() -> Iterator[KnownTarget]:
    """Yield every target with its diagnosis."""
    for fault in FAULTS.values():
        for dtype in fault.dtypes:
            try:
                diagnosis = outcome(judged(fault, dtype))
            except SystemExit:
                diagnosis = "error"  # which ends a worker process of `check`
            yield KnownTarget(kind_of(fault), fault.name, fault.optimizer, dtype, fault.outcome, diagnosis)
    for optimizer in FAMILIES:
        for member in unnamed(optimizer):
            for dtype in DTYPES:
                diagnosis = outcome(class_verdict(member, dtype))
                yield KnownTarget(UNNAMED, member.name, optimizer, dtype, f"dialect: {member.name}", diagnosis)
    for optimizer in RULES:
        for dtype in DTYPES:
            for style, verdict in equivalents(optimizer, dtype, TEN_CASES).items():
                yield KnownTarget(EQUIVALENT, style, optimizer, dtype, "conforms", outcome(verdict))


def page(diagnosed: Iterable[KnownTarget]) -> str:
    """Write the page as Markdown: the same for the same code."""
    diagnosed = list(diagnosed)
    members = [trial for trial in diagnosed if trial.kind in MEMBERS]
    exact = sum(trial.right for trial in members)
    wrong = sum(trial.column == "named wrongly" for trial in diagnosed)
    share = 100 * exact / len(members)
    lines = [
        "# Confusion matrix of diagnoses",
        "",
        "<!-- Written by `python -m optimetry.conformance.selftest.confusion`; a test holds the figures. -->",
        "",
        f"Of {len(members)} targets that compute something known, {exact} are named exactly ({share:.1f} %).",
        f"Of all {len(diagnosed)} targets, {wrong} are named wrongly.",
        "",
        "A target is one fault, one class of equal members of a family, or one honest equivalent, in one dtype. Named",
        "wrongly is any name that is not the expected one, for whatever kind of target.",
        "",
        f"| what it computes | targets | {' | '.join(COLUMNS)} |",
        f"|---|---:|{'---:|' * len(COLUMNS)}",
    ]
    for kind in KINDS:
        row = [trial for trial in diagnosed if trial.kind == kind]
        counts = Counter(trial.column for trial in row)
        lines.append(f"| {kind} | {len(row)} | {' | '.join(str(counts[column]) for column in COLUMNS)} |")
    lines += ["", "## Not as expected", ""]
    lines += _table([trial for trial in diagnosed if not trial.right]) or ["None."]
    for kind in KINDS[:-1]:
        lines += [
            "",
            f"## {kind[0].upper()}{kind[1:]}",
            "",
            *_table([trial for trial in diagnosed if trial.kind == kind]),
        ]
    return "\n".join(lines) + "\n"


def _table(listed: Sequence[KnownTarget]) -> list[str]:
    rows = [f"| {x.optimizer} | {x.name} | {x.dtype} | {x.diagnosis.removeprefix('dialect: ')} |" for x in listed]
    return ["| subject | target | dtype | diagnosis |", "|---|---|---|---|", *rows] if rows else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page, by default where the repository keeps it."""
    parser = argparse.ArgumentParser(prog="python -m optimetry.conformance.selftest.confusion", description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGE, help="file to write (default: %(default)s)")
    out = parser.parse_args(arguments).out
    out.write_text(page(trials()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
