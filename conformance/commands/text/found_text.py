"""Writes a formula that a search found: beside the known one, for a ledger, and as the report of an issue upstream."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from difflib import SequenceMatcher

from tabulate import tabulate

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands.text.documents import source_of
from optimetry.conformance.commands.text.terminal import counted, digits_of, rows_of, wrapped
from optimetry.conformance.judging.diagnose import Diagnosis, FoundFormula
from optimetry.conformance.naming.known.points import DOCUMENTED
from optimetry.conformance.naming.search.rivals import Telling
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reports.accuracy_tables import figure

SHOWN = 3
"""How many formulas are shown that explain a target equally."""


def found_text(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    """Write the formula that explains a target, formulas that explain it equally, a line for the ledger, a report."""
    first = diagnosis.found
    assert first is not None
    yield from wrapped(f"found: {first.changes or f'the formula of {first.start}'}", width)
    cases = counted(first.cases, "drawn case")
    yield from wrapped(f"explains {cases} and every probe within rounding; of {first.programs:,} formulas", width)
    if first.ending:
        yield from wrapped(f"{first.ending.removeprefix('; ')}: others may explain it as well", width)
    yield from _beside(first, width)
    for name, telling in first.rivals[:SHOWN]:
        yield from wrapped(f"explained equally by: {name}", width)
        yield from (
            _telling(telling, width) if telling else wrapped(f"none of {first.drawn} cases tells them apart", width)
        )
    verdict = diagnosis.verdict
    yield ""
    yield "  for the file of `optimetry check --expect`:"
    yield f"    {verdict.optimizer} {verdict.dtype} dialect:{verdict.dialect} {first.changes or first.start}"
    yield "  for an issue:"
    yield from (f"    {line}" for line in _report(diagnosis, first))


def _beside(formula: FoundFormula, width: int) -> Iterator[str]:
    """Write each line that differs, before and after, with marks under what is new; long ones in pieces."""
    room = max(len(formula.start), len("found"))
    for before, after in formula.lines:
        rows = ((formula.start, before), ("found", after), ("", _marks(before, after)))
        piece = max(width - room - 6, 20)
        for start in range(0, max(len(before), len(after)), piece):
            yield from (f"    {name:{room}}  {text[start : start + piece]}".rstrip() for name, text in rows)


def _telling(telling: Telling, width: int) -> Iterator[str]:
    """Write the case that would tell two formulas apart, and what each gives in it."""
    case = telling.case
    yield from wrapped("not offered by the target, this case would tell them apart:", width)
    rows = [*rows_of(case), *zip(("found", "the other"), (digits_of(x, case) for x in telling.values), strict=True)]
    rows[-2:] = [(f"{name}, step {telling.step}, element {telling.element}", value) for name, value in rows[-2:]]
    yield textwrap.indent(tabulate(rows, tablefmt="plain", disable_numparse=True), "    ")


def _marks(before: str, after: str) -> str:
    """Return a line with ``^`` under what stands in the second text alone; under both ends where something is lost."""
    marks = [" "] * (len(after) + 1)
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            marks[start : max(end, start + 1)] = "^" * max(end - start, 1)
    return "".join(marks)


def _report(diagnosis: Diagnosis, formula: FoundFormula) -> Iterator[str]:
    """Write what an issue upstream needs: what differs, where that is documented, and numbers that show it."""
    verdict, shown = diagnosis.verdict, diagnosis.verdict.counterexample or {}
    subject = subject_named(verdict.optimizer)
    yield f"{verdict.optimizer} in {verdict.dtype} does not compute its document, {source_of(subject)}."
    opening = (
        "The document has" if formula.start == DOCUMENTED else f"Near is the formula of {formula.start}, which has"
    )
    for before, after in formula.lines:
        yield f"{opening} `{before}`, and what is computed is `{after}`."
    if "given" in shown:
        case = Case.from_json(shown["case"])
        hyper = ", ".join(f"{name}={value}" for name, value in case.hyper.items())
        yield f"With {hyper or 'no hyperparameters'} it returns {float(shown['given']):.9g} at step {shown['step']},"
        documented, allowed = float(shown["documented"]), SLACK * shown["bound"]
        yield f"where the document gives {documented:.9g}; rounding explains {allowed:.2g}."
    if diagnosis.effect is not None:
        yield (
            "At the defaults, on N(0, 1) gradients, after 100 steps, parameters differ by "
            f"{figure(diagnosis.effect)} times the distance that they have moved."
        )
