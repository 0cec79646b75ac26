"""Writes how fast contenders are over the size of a parameter, as tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tabulate import tabulate

from optimetry.reports.results import Results
from optimetry.reports.speed import Speed, called

LEGEND = """\
Nanoseconds that one step takes for one element: medians of runs in which contenders took turns. *speed of memory* is a
kernel that reads and writes the same arrays as ours, with one addition in place of the formula."""


def markdown(results: Iterable[Results]) -> str:
    """Write a page with a table of size by contender for each rule, dtype and number of parameters."""
    rows = [row for each in results for row in each.speed]
    return "\n\n".join(["# How fast steps are", LEGEND, *_sections(rows)]) + "\n"


def runs(rows: Sequence[Speed]) -> Iterator[tuple[tuple[str, str, int], list[Speed], dict[str, str]]]:
    """Yield what may be compared: rule, dtype and number of parameters, the rows, and what contenders are called.

    Contenders are in the order of the largest size, the fastest first.
    """
    for about in dict.fromkeys(row.about[:3] for row in rows):
        mine = [row for row in rows if row.about[:3] == about]
        ordered = sorted(mine, key=lambda row: (-row.elements, row.nanoseconds))
        yield about, mine, {row.contender: called(row.contender) for row in ordered}


def _sections(rows: Sequence[Speed]) -> Iterator[str]:
    for (rule, dtype, tensors), mine, names in runs(rows):
        times = {(row.contender, row.elements): row.nanoseconds for row in mine}
        sizes = sorted({row.elements for row in mine})
        lines = [[f"{size:,}", *(_cell(times.get((name, size))) for name in names)] for size in sizes]
        columns = ["elements", *names.values()]
        table = tabulate(lines, columns, "pipe", colalign=("right",) * len(columns), disable_numparse=True)
        yield f"## {rule}, {dtype}, {tensors:,} parameter{'s' * (tensors > 1)}\n\n{table}"


def _cell(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else f"{nanoseconds:.3g}"
