"""Writes how many planted faults test vectors alone catch: ``python -m optimetry.conformance.selftest.vector_table``.

A reader of vectors feeds gradients and compares parameters; it tries no law, so a fault that shows in nothing else,
such as an input that is changed, stays unseen.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import what_is_wrong
from optimetry.conformance.judging.vectors import DTYPES, accepts, document, text_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.equivalents import STYLES, Equivalents, Style, rules_of
from optimetry.conformance.selftest.faults import FAULTS, Fault
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, watched
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import TargetFault
from optimetry.reference.rules import RULES

PAGE = Path("docs") / "vectors.md"

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


OUTSIDE: Mapping[str, Sequence[str]] = {
    "saved states, and runs that resume from them": ("resuming", "engines_continue_each_other"),
    "groups of parameters, and parameters of several dtypes": ("groups_are_independent", "dtypes_are_independent"),
    "gradients that are scaled, or come in parts": ("scaled_gradients", "accumulated_gradients"),
    "what a target does beside its results: inputs changed, other methods that raise": ("protocol",),
    "NaN and infinities among the gradients": ("nonfinite_gradients_act", "nonfinite_gradients_stay"),
    "a last bit that depends on the run": ("repeatable", "runs_are_independent"),
}
"""What a vector has no words for, each with what rejects its faults: a law, or the protocol."""

LARGE = "large tensors and long runs, for which a set has no room"
"""Faults that only large cases show."""

NUMBERS = "numbers that a vector could show, and none does"
"""What is left: a vector with other numbers would catch it."""

DEPENDS = {"saved_arrays_in_reverse": "resuming", "step_skipped_unless_finite": "nonfinite_gradients_act"}
"""Faults that several things reject, each with one of `OUTSIDE` that does."""


class Set(NamedTuple):
    """A set of vectors, with its size in bytes."""

    vectors: Sequence[tuple[dict[str, Any], Case]]
    size: int


def made(optimizer: str, dtype: str) -> Set:
    """Make the set of a rule and dtype."""
    found = document(optimizer, dtype)
    return Set([(vector, case_of(found, vector)) for vector in found["vectors"]], len(text_of(found)))


def case_of(found: dict[str, Any], vector: dict[str, Any]) -> Case:
    """Return the case of a vector."""
    return Case.from_json(json.dumps({**vector, "optimizer": found["optimizer"], "dtype": found["dtype"]}))


def played(target: Target, case: Case, guard: Guard) -> list[list[Array]] | None:
    """Feed a target as a reader of vectors does; None where it raises, hangs, or returns something else."""
    after = []
    try:
        with watched(guard):
            run = target.start(case.optimizer, dict(case.hyper), [param.copy() for param in case.parameters])
            for grads, rate in case.steps:
                returned = run.step([None if grad is None else grad.copy() for grad in grads], rate)
                if what_is_wrong(returned, case.parameters):
                    return None
                after.append([np.array(array) for array in returned])
    except TargetFault:
        return None
    return after


def caught(target: Target, vectors: Set, guard: Guard | None = None, plays: int = 2) -> bool:
    """Whether a set rejects a target. Each vector is played twice in a row: a run must not know the run before."""
    for vector, case in (pair for pair in vectors.vectors for _ in range(plays)):
        after = played(target, case, guard or Guard())
        if after is None or not accepts(vector, after):
            return True
    return False


def misses(fault: Fault, sets: Mapping[tuple[str, str], Set]) -> bool:
    """Whether no set of a fault's rule, in its dtypes, rejects it."""
    of_it = [sets[fault.optimizer, dtype] for dtype in fault.dtypes if dtype in DTYPES]
    return not any(caught(fault.target(), one, Guard(fault.time_limit)) for one in of_it)


def rejects_honest(style: Style, vectors: Set) -> bool:
    """Whether a set rejects a rule computed in an honest style, on what the style offers."""
    (engine,) = Equivalents([style]).engines()
    offered = [pair for pair in vectors.vectors if reason_unsupported(engine, pair[1]) is None]
    return caught(engine, Set(offered, vectors.size), plays=1)


def faults() -> list[Fault]:
    """Return the faults of rules in dtypes that have vectors; wrappers have none."""
    of_rules = [fault for fault in FAULTS.values() if isinstance(subject_named(fault.optimizer), RuleSubject)]
    return [fault for fault in of_rules if set(fault.dtypes) & set(DTYPES)]


def kind_of(fault: Fault) -> str:
    """Say what a fault that is missed is about."""
    rejected_by = DEPENDS.get(fault.name, fault.rejected_by)
    kinds = (kind for kind, reasons in OUTSIDE.items() if rejected_by in reasons)
    return next(kinds, LARGE if fault.scales else NUMBERS)


def figures() -> list[str]:
    """Return the lines of the page between its marks."""
    sets = {(rule, dtype): made(rule, dtype) for rules in BOOKS.values() for rule in rules for dtype in DTYPES}
    tried = faults()
    missed = [fault for fault in tried if misses(fault, sets)]
    honest = [(style, rule) for style in STYLES.values() for rule in rules_of(style) if rule in RULES]
    refused = [pair for pair in honest if rejects_honest(pair[0], sets[pair[1], "float32"])]
    said = (
        f"Of {len(tried)} planted faults of rules, vectors alone catch {len(tried) - len(missed)} "
        f"({100 * (len(tried) - len(missed)) / len(tried):.1f} %). Of {len(honest)} honest re-implementations of "
        f"fluid's rules in float32 they accept {len(honest) - len(refused)}."
    )
    lines = [
        *textwrap.wrap(said, 120),
        "",
        "| book | sets | vectors | size |",
        "|---|---:|---:|---:|",
    ]
    for book, rules in BOOKS.items():
        own = [sets[rule, dtype] for rule in rules for dtype in DTYPES]
        size = sum(one.size for one in own) / 1e6
        lines.append(f"| {book} | {len(own)} | {sum(len(one.vectors) for one in own)} | {size:.2f} MB |")
    if missed:
        lines += ["", f"The {len(missed)} that they miss are about:", "", "| what | faults |", "|---|---:|"]
        count = Counter(map(kind_of, missed))
        lines += [f"| {kind} | {count[kind]} |" for kind in (*OUTSIDE, LARGE, NUMBERS) if count[kind]]
        lines += ["", "Each of them:", "", "| fault | rule | defect |", "|---|---|---|"]
        lines += [f"| `{fault.name}` | {fault.optimizer} | {fault.defect} |" for fault in missed]
    return lines


def main() -> None:
    """Write the figures into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=PAGE)
    page = parser.parse_args().page
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text("\n".join([before + BEGIN, *figures(), END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
