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


def _sections(rows: Sequence[Speed]) -> Iterator[str]:
    for rule, dtype, tensors in dict.fromkeys(row.about[:3] for row in rows):
        mine = [row for row in rows if row.about[:3] == (rule, dtype, tensors)]
        sizes = sorted({row.elements for row in mine})
        times = {(row.contender, row.elements): row.nanoseconds for row in mine}
        contenders = sorted({row.contender for row in mine}, key=lambda name: times.get((name, sizes[-1]), 0.0))
        lines = [[f"{size:,}", *(_cell(times.get((name, size))) for name in contenders)] for size in sizes]
        names = ["elements", *map(called, contenders)]
        table = tabulate(lines, names, "pipe", colalign=("right",) * len(names), disable_numparse=True)
        yield f"## {rule}, {dtype}, {tensors:,} parameter{'s' * (tensors > 1)}\n\n{table}"


def _cell(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else f"{nanoseconds:.3g}"
