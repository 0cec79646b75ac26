"""Writes one element that is worked through two formulas as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tabulate import tabulate

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands.words import wrapped
from optimetry.conformance.judging.divergence import PARAMETER
from optimetry.conformance.judging.worked import Row, Worked


def worked_text(worked: Worked, width: int) -> Iterator[str]:
    """Write the first divergence from the document, with the numbers of that element."""
    found = worked.divergence
    where = "the parameter" if found.slot == PARAMETER else f"slot {found.slot}"
    size = f"step {found.step}, tensor {found.tensor}, element {found.element}"
    hyper = ", ".join(f"{name} = {value:g}" for name, value in found.case.hyper.items())
    said = f"first divergence at {size}, in {where}; worked through{f' with {hyper}' if hyper else ''}:"
    yield from wrapped(said, width)
    rows = (*worked.given, *worked.between, *worked.after)
    cells = [_cells(row, found.case, bool(worked.other)) for row in rows]
    returned = f"{'param' if found.slot == PARAMETER else found.slot}, returned"
    cells.append([returned, *[""] * bool(worked.other), _number(found.given, found.case)])
    headers = ["", "documented", *[_short(worked.other)] * bool(worked.other)]
    table = tabulate(cells, headers, "simple", disable_numparse=True, maxcolwidths=[max(width - 50, 30), None, None])
    yield textwrap.indent(table, "  ")


def _cells(row: Row, case: Case, both: bool) -> list[str]:
    """Return one row of the table."""
    return [row.what, _number(row.documented, case), *[_number(row.other, case)] * both]


def _number(value: float | None, case: Case) -> str:
    """Write a number with more digits than the case's dtype tells apart; nothing where there is none."""
    return "" if value is None else f"{value:.{17 if case.dtype == 'float64' else 9}g}"


def _short(name: str) -> str:
    """Shorten a name to a column's width."""
    return textwrap.fill(name, 24)
