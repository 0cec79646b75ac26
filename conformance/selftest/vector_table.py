"""Writes how many planted faults test vectors alone catch: ``python -m optimetry.conformance.selftest.vector_table``.

A reader of vectors feeds gradients and compares parameters; it tries no law, so a fault that shows in nothing else,
such as a state that is saved wrongly, stays unseen.
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
from optimetry.conformance.judging.vectors.writing import DTYPES, document, text_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.equivalents import STYLES, Style, StyledTarget, rules_of
from optimetry.conformance.selftest.faults import FAULTS, Fault
from optimetry.conformance.selftest.vector_reading import accepts, case_of
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, Session, watched
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import TargetFault
from optimetry.reference.rules import RULES

PAGE = Path("docs") / "vectors.md"

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


OUTSIDE: Mapping[str, Sequence[str]] = {
    "saved states, and runs that resume from them": ("resuming", "engines_continue_each_other"),
    "groups of parameters, and parameters of several dtypes": ("groups_are_independent", "dtypes_are_independent"),
    "arrays that are not contiguous": ("memory_layout",),
    "gradients that are scaled, or come in parts": ("scaled_gradients", "accumulated_gradients"),
    "other methods than steps, which raise": ("protocol",),
}
"""What a vector has no words for, each with what rejects its faults: a law, or the protocol."""

NUMBERS = "numbers that a vector could show, and none does"
"""What is left: a vector with other numbers would catch it."""

DEPENDS = {"saved_arrays_in_reverse": "resuming"}
"""Faults that several things reject, each with one of `OUTSIDE` that does."""

CONFORMS = "conforms"
"""How the outcome of a fault begins that is another arithmetic of the same rule, which vectors must accept."""


class Set(NamedTuple):
    """A set of vectors, each with its run, and the size of the file in bytes."""

    vectors: Sequence[tuple[dict[str, Any], Case]]
    size: int


def made(optimizer: str, dtype: str) -> Set:
    """Make the set of a rule and dtype, and read it back from its text."""
    text = text_of(document(optimizer, dtype))
    parsed = json.loads(text)
    return Set([(vector, case_of(parsed, vector)) for vector in parsed["vectors"]], len(text))


def played(target: Target, vector: dict[str, Any], case: Case, guard: Guard) -> list[list[Array]] | None:
    """Feed a target as a reader does, and return what is checked; None where it is rejected.

    Gradients are written into the same arrays in every step, and compared after it, and so are the parameters that the
    run was started with.
    """
    after = []
    try:
        with watched(guard):
            session = Session(target, case)
        for number, (grads, rate) in enumerate(case.steps, 1):
            with watched(guard):
                returned = session.step(grads, rate)
            if not accepts(vector, number, returned):
                return None
            if number in vector["checked"]:
                after.append([np.array(array) for array in returned])
    except TargetFault:
        return None
    return after


def caught(target: Target, vectors: Set, guard: Guard | None = None, again: bool = True) -> bool:
    """Whether a set rejects a target. It is played forwards and backwards, as no run may know the one before."""
    guard, results = guard or Guard(), []
    for vector, case in vectors.vectors:
        results.append(played(target, vector, case, guard))
        if results[-1] is None:
            return True
    backwards = zip(reversed(vectors.vectors), reversed(results), strict=True)
    return again and any(not _alike(played(target, vector, case, guard), first) for (vector, case), first in backwards)


def _alike(first: Any, second: Any) -> bool:
    """Whether two plays of a vector gave the same numbers, or the same NaN."""
    return first is not None and all(
        np.array_equal(a, b, equal_nan=True)
        for arrays, others in zip(first, second, strict=True)
        for a, b in zip(arrays, others, strict=True)
    )


def misses(fault: Fault, sets: Mapping[tuple[str, str], Set]) -> bool:
    """Whether no set of a fault's rule, in its dtypes, rejects it."""
    own = [sets[fault.optimizer, dtype] for dtype in fault.dtypes if dtype in DTYPES]
    return not any(caught(fault.target(), vectors, Guard(fault.time_limit)) for vectors in own)


def rejects_honest(style: Style, vectors: Set) -> bool:
    """Whether a set rejects a rule computed in an honest style, on what the style offers."""
    engine = StyledTarget(style)
    offered = [pair for pair in vectors.vectors if reason_unsupported(engine, pair[1]) is None]
    return caught(engine, Set(offered, vectors.size), again=False)


def faults() -> list[Fault]:
    """Return the faults of rules in dtypes that have vectors, which must not conform; wrappers have no vectors."""
    return [fault for fault in _of_rules() if not fault.outcome.startswith(CONFORMS)]


def conforming() -> list[Fault]:
    """Return those that flush subnormals, which is arithmetic: vectors must accept it."""
    return [fault for fault in _of_rules() if fault.outcome.startswith(CONFORMS)]


def _of_rules() -> list[Fault]:
    of_rules = [fault for fault in FAULTS.values() if isinstance(subject_named(fault.optimizer), RuleSubject)]
    return [fault for fault in of_rules if set(fault.dtypes) & set(DTYPES)]


def kind_of(fault: Fault) -> str:
    """Say what a fault that is missed is about."""
    rejected_by = DEPENDS.get(fault.name, fault.rejected_by)
    kinds = (kind for kind, reasons in OUTSIDE.items() if rejected_by in reasons)
    return next(kinds, NUMBERS)


def figures() -> list[str]:
    """Return the lines of the page between its marks."""
    sets = {(rule, dtype): made(rule, dtype) for rules in BOOKS.values() for rule in rules for dtype in DTYPES}
    tried = faults()
    missed = [fault for fault in tried if misses(fault, sets)]
    honest = [(style, rule) for style in STYLES.values() for rule in rules_of(style) if rule in RULES]
    refused = [pair for pair in honest if rejects_honest(pair[0], sets[pair[1], "float32"])]
    summary = (
        f"Of {len(tried)} planted faults of rules, vectors alone catch {len(tried) - len(missed)} "
        f"({100 * (len(tried) - len(missed)) / len(tried):.1f} %). Of {len(honest)} honest re-implementations of "
        f"fluid's rules in float32 they accept {len(honest) - len(refused)}."
    )
    lines = [
        *textwrap.wrap(summary, 120),
        "",
        "| book | sets | vectors | size |",
        "|---|---:|---:|---:|",
    ]
    for book, rules in BOOKS.items():
        own = [sets[rule, dtype] for rule in rules for dtype in DTYPES]
        size = sum(x.size for x in own) / 1e6
        lines.append(f"| {book} | {len(own)} | {sum(len(x.vectors) for x in own)} | {size:.2f} MB |")
    if missed:
        lines += ["", f"The {len(missed)} that they miss are about:", "", "| what | faults |", "|---|---:|"]
        count = Counter(map(kind_of, missed))
        lines += [f"| {kind} | {count[kind]} |" for kind in (*OUTSIDE, NUMBERS) if count[kind]]
        lines += ["", "Each of them:", "", "| fault | rule | defect |", "|---|---|---|"]
        lines += [f"| `{fault.name}` | {fault.optimizer} | {fault.defect} |" for fault in missed]
    return lines


def main() -> None:
    """Write the figures into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=PAGE)
    page = parser.parse_args().page
    text = page.read_text(encoding="utf-8")
    before, behind = text.split(BEGIN)
    after = behind.split(END)[1]
    page.write_text("\n".join([before + BEGIN, *figures(), END + after]), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
