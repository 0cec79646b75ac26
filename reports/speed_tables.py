"""Writes how fast contenders are over the size of a parameter, as tables: for a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tabulate import tabulate

from optimetry.reports.numbers import three_digits
from optimetry.reports.results import Results
from optimetry.reports.speed import Speed, called

LEGEND = """\
Nanoseconds that one step takes for one element: medians of runs in which contenders took turns. *speed of memory* is a
kernel that reads and writes the same arrays as ours, with one addition in place of the formula."""


def terminal(rows: Sequence[Speed]) -> str:
    """Write a table of contender by size for each run, which is narrower than one of size by contender."""
    sections = []
    for about, mine, names in runs(rows):
        times, sizes = _times(mine)
        lines = [["elements", *(f"{size:,}" for size in sizes)]]  # tabulate pads its own headers
        lines += [[called, *(_cell(times.get((name, size))) for size in sizes)] for name, called in names.items()]
        sides = ("left", *("right",) * len(sizes))
        table = tabulate(lines, tablefmt="plain", colalign=sides, disable_numparse=True)
        sections.append(f"{_title(*about)}: nanoseconds for one element\n\n{table}")
    return "\n\n".join(sections)


def markdown(results: Iterable[Results]) -> str:
    """Write a page with a table of size by contender for each rule, dtype and number of parameters."""
    rows = [row for each in results for row in each.speed]
    return "\n\n".join(["# How fast steps are", LEGEND, *_sections(rows)]) + "\n"


def runs(rows: Sequence[Speed]) -> Iterator[tuple[tuple[str, str, int], list[Speed], dict[str, str]]]:
    """Yield the rows that may be compared, after rule, dtype and number of parameters, and the names of contenders.

    Contenders are in the order of the largest size, the fastest first.
    """
    for about in dict.fromkeys(row.about[:3] for row in rows):
        mine = [row for row in rows if row.about[:3] == about]
        ordered = sorted(mine, key=lambda row: (-row.elements, row.nanoseconds))
        yield about, mine, {row.contender: called(row.contender) for row in ordered}


def _sections(rows: Sequence[Speed]) -> Iterator[str]:
    for about, mine, names in runs(rows):
        times, sizes = _times(mine)
        lines = [[f"{size:,}", *(_cell(times.get((name, size))) for name in names)] for size in sizes]
        columns = ["elements", *names.values()]
        table = tabulate(lines, columns, "pipe", colalign=("right",) * len(columns), disable_numparse=True)
        yield f"## {_title(*about)}\n\n{table}"


def _title(rule: str, dtype: str, tensors: int) -> str:
    return f"{rule}, {dtype}, {tensors:,} parameter{'s' * (tensors > 1)}"


def _times(rows: Sequence[Speed]) -> tuple[dict[tuple[str, int], float], list[int]]:
    """Return the times by contender and size, and the sizes."""
    return {(row.contender, row.elements): row.nanoseconds for row in rows}, sorted({row.elements for row in rows})


def _cell(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else three_digits(nanoseconds)
