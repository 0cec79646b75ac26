"""Writes what the search finds: ``python -m optimetry.conformance.selftest.search_table``.

Rows are targets whose formula is known: planted faults that change a formula in a way that no family contains, and the
named dialects of every family, for which the search knows the document alone. A formula that was found is right if it
also explains what the target computes in double precision on cases that nothing was searched on.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.formulas.programs import program_of
from optimetry.conformance.naming.known.points import documented_class, named_classes
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.edited import Edited
from optimetry.conformance.naming.search.fed import runs_of
from optimetry.conformance.naming.search.over_edits import edited_formulas
from optimetry.conformance.naming.search.telling import neutral_cases, telling_cases
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.selftest.faults import FAULTS, Fault
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.selftest.search_costs import Cost, costs, replaced_in, section
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard

PAGE = Path("docs") / "search.md"

DRAWN, FRESH = 60, 40
"""How many drawn cases a formula must explain to be found, and how many others to be right."""

SEED = 1
"""Of the cases that decide whether a formula is right."""

OUTSIDE, INSIDE = "fault, in no family", "named dialect, families unknown"
KINDS = (OUTSIDE, INSIDE)

RIGHT, WRONG, NOTHING, ENDED, UNTRACED = RESULTS = (
    "found and right",
    "found and wrong",
    "not found",
    "ended by the budget",
    "not traced",
)


@dataclass(frozen=True)
class SearchTrial:
    """One search.

    Attributes:
        kind: one of `KINDS`.
        name: of the target.
        optimizer: the subject.
        result: one of `RESULTS`.
        formula: what was found, empty where nothing was.
        edits: in how many places it was edited.
        programs: how many programs were tried.
        seconds: what that took, of the processor's time.
    """

    kind: str
    name: str
    optimizer: str
    result: str
    formula: str = ""
    edits: int = 0
    programs: int = 0
    seconds: float = 0.0


def found_by(target: Target, optimizer: str, budget: Budget) -> list[Edited]:
    """Search from the document alone, in float32."""
    runs = runs_of(target, telling_cases(optimizer, "float32"), Guard())
    holds = explainer(target, optimizer, "float32", 0, DRAWN)
    parts = (runs_of(target, part, Guard()) for part in neutral_cases(optimizer, "float32"))
    return edited_formulas([documented_class(optimizer)], runs, holds, budget, neutral=parts)


def explainer(target: Target, optimizer: str, dtype: str, seed: int, count: int) -> Callable[[Explanation], bool]:
    """Return whether a formula explains the probes and so many drawn cases, each run once."""
    drawn = islice(drawn_cases(subject_named(optimizer), dtype, seed=seed, count=count), count)
    runs = runs_of(target, (*probes_of(optimizer, dtype), *drawn), Guard())
    return lambda formula: all(explains(after, formula.expected(case), case.form) for case, after in runs)


def tried(kind: str, name: str, target: Target, optimizer: str) -> SearchTrial:
    """Search for one target's formula."""
    if program_of(subject_named(optimizer).declaration.typical()) is None:
        return SearchTrial(kind, name, optimizer, UNTRACED)
    budget, began = Budget(), time.process_time()
    formulas = found_by(target, optimizer, budget)
    seconds = time.process_time() - began
    if not formulas:
        return SearchTrial(kind, name, optimizer, ENDED if budget.ended else NOTHING, "", 0, budget.programs, seconds)
    right = explainer(target, optimizer, "float64", SEED, FRESH)(formulas[0].explanation)
    edits = len(formulas[0].edits)
    return SearchTrial(
        kind, name, optimizer, RIGHT if right else WRONG, formulas[0].name, edits, budget.programs, seconds
    )


def edited_faults() -> list[Fault]:
    """Return the faults that are a change of a formula of fluid."""
    return [fault for fault in FAULTS.values() if fault.edited and subject_named(fault.optimizer).book == "fluid"]


def searched_dialects() -> list[str]:
    """Return the subjects of fluid whose dialects are searched for."""
    return [name for name in DIALECTS if subject_named(name).book == "fluid"]


def trials() -> Iterator[SearchTrial]:
    """Search for every formula."""
    for fault in edited_faults():
        yield tried(OUTSIDE, fault.name, fault.target(), fault.optimizer)
    for optimizer in searched_dialects():
        for dialect in named_classes(optimizer):
            yield tried(INSIDE, dialect.name, computing(dialect), optimizer)


def page(searched: Sequence[SearchTrial], memory: int) -> str:
    """Write the page as Markdown; ``memory`` is the most that the process held, in MiB."""
    lines = [
        "# What the search finds",
        "",
        "<!-- Written by `python -m optimetry.conformance.selftest.search_table`; a test holds the figures. -->",
        "",
        "Each target computes a known formula, and the search starts from the document alone: one edit, then two, then",
        "three and four by stages.",
        "A formula that is found explains the probes and the drawn cases in float32; it is right if it also explains",
        f"{FRESH} other cases in float64. Programs are compared, not texts: the simplest of equal ones is shown.",
        "Targets are of fluid's rules and wrappers.",
        "",
        f"| target | targets | {' | '.join(RESULTS)} |",
        f"|---|---:|{'---:|' * len(RESULTS)}",
    ]
    for kind in KINDS:
        row = [trial for trial in searched if trial.kind == kind]
        counts = Counter(trial.result for trial in row)
        lines.append(f"| {kind} | {len(row)} | {' | '.join(str(counts[result]) for result in RESULTS)} |")
    lines += ["", *_costs(searched, memory)]
    for kind in KINDS:
        lines += ["", f"## {kind[0].upper()}{kind[1:]}", "", "| subject | target | result | edits | found |"]
        lines += ["|---|---|---|---:|---|"]
        for x in searched:
            if x.kind == kind:
                formula = f"`{x.formula}`".replace("|", "\\|") if x.formula else ""
                lines.append(f"| {x.optimizer} | {x.name} | {x.result} | {x.edits or ''} | {formula} |")
    return "\n".join(lines) + "\n"


COSTS = (
    *("one edit: programs", "seconds, median"),
    *("two edits: programs", "seconds, median", "longest"),
    *("more, or not found: programs", "seconds, median", "longest"),
)
"""The columns of what searches cost."""


def _costs(searched: Iterable[SearchTrial], memory: int) -> list[str]:
    """Write what one edit and two cost, rule by rule."""
    rows: dict[str, list[SearchTrial]] = {}
    for trial in searched:
        if trial.programs:
            rows.setdefault(trial.optimizer, []).append(trial)
    lines = [
        f"Seconds are of the processor's time, cases and proof included; {memory} MiB were held at most.",
        "",
        f"| subject | {' | '.join(COSTS)} |",
        f"|---|{'---:|' * len(COSTS)}",
    ]
    for optimizer, row in rows.items():
        ones = [trial for trial in row if trial.edits == 1]
        twos = [trial for trial in row if trial.edits == 2]
        others = [trial for trial in row if trial.edits not in (1, 2)]
        cells = [*_cells(ones)[:2], *_cells(twos), *_cells(others)]
        lines.append(f"| {optimizer} | {' | '.join(cells)} |")
    return lines


def _cells(trials: Sequence[SearchTrial]) -> list[str]:
    """Write how many programs were tried in the median, what they cost, and the longest; nothing without any."""
    row = sorted(trials, key=lambda x: x.seconds)
    middle = row[len(row) // 2] if row else None
    return [f"{middle.programs:,}", f"{middle.seconds:.1f}", f"{row[-1].seconds:.1f}"] if middle else [""] * 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page, by default where the repository keeps it."""
    parser = argparse.ArgumentParser(prog="python -m optimetry.conformance.selftest.search_table", description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGE, help="file to write (default: %(default)s)")
    parser.add_argument(
        "--costs", action="store_true", help="write the section on costs alone, row by row: about three minutes"
    )
    chosen = parser.parse_args(arguments)
    out: Path = chosen.out
    measured: list[Cost] = []
    for cost in tqdm(costs(), "costs", disable=None):
        measured.append(cost)
        before = out.read_text(encoding="utf-8") if out.exists() else ""
        text = replaced_in(before, section(measured))
        out.write_text(text, encoding="utf-8", newline="\n")
    if chosen.costs:
        return
    searched = list(tqdm(trials(), "searches", disable=None))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    out.write_text(replaced_in(page(searched, memory), section(measured)), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
