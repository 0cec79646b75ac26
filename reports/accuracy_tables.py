"""Writes how accurate engines are as tables: for a terminal, in Markdown and in CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from tabulate import tabulate

from optimetry.reports.accuracy import LARGEST, Accuracy
from optimetry.reports.csv_text import csv_of
from optimetry.reports.results import Results

SHOWN = (1, 10, 100, 1_000, 10_000)
"""The steps that tables show beside the last; a CSV file and the site's plots have all that were measured."""

SETTING = """\
Each engine ran at the documented defaults beside the documented rule in wide precision, on the same gradients"""

LEGEND = f"""\
{SETTING}: *normal*
are N(0, 1), *training* those of a small model while it is trained. A cell is the error relative to how far the rule has
moved the parameter since the start: the median over the elements, and in brackets the largest. The last column is the
largest error in units in the last place of the parameter, after the last step."""

SUMMARY = f"""\
{SETTING},
those of a small model while it is trained. A cell is the error after the last step relative to how far the rule has
moved the parameter since the start: the median over the elements, of the engine that is furthest off. A rule that a
target does not offer, or not at the documented defaults, has none."""

SPREADS = ("median", "p99", "largest")


def terminal(measured: Sequence[Accuracy], width: int) -> str:
    """Write the table for a terminal of some width, as far as names allow.

    Where there is no room, engines stand below each other, and columns of steps between the first and the last are left
    out.
    """
    shown = steps(measured)
    table = _fitting(measured, shown, "simple", ", ")
    while max(map(len, table.splitlines())) > width:
        table = _fitting(measured, shown, "simple", ",\n")
        if len(shown) <= 2:
            break
        shown = [shown[0], *shown[2:]]
    return table


def _fitting(
    measured: Sequence[Accuracy], shown: Sequence[int], form: str, between: str, hidden: Set[str] = frozenset()
) -> str:
    cells, all_names = rows(measured, shown), columns(shown)
    if {each.engine for each in measured} == {"default"}:
        hidden |= {"engine"}
    kept = [i for i, name in enumerate(all_names) if name not in hidden]
    lines = [[row[i].replace(", ", between) if all_names[i] == "engine" else row[i] for i in kept] for row in cells]
    sides = ("left",) * (len(kept) - 1) + ("right",)
    names = [all_names[i] for i in kept]
    return tabulate(lines, names, form, colalign=sides, disable_numparse=True)


def columns(shown: Sequence[int]) -> list[str]:
    """Return the names of the columns, for the steps that are shown."""
    after = [f"{step:,} step{'s' * (step > 1)}" for step in shown]
    return ["optimizer", "dtype", "engine", "gradients", *after, "ULP"]


def rows(measured: Sequence[Accuracy], shown: Sequence[int]) -> list[list[str]]:
    """Return the cells of the table, row by row; engines with the same figures share one."""
    engines_of: dict[tuple[str, ...], list[str]] = {}
    for each in measured:
        cells = [_cell(each, step) for step in shown]
        key = (each.optimizer, each.dtype, each.gradients, *cells, figure(each.points[-1].ulp.largest))
        engines_of.setdefault(key, []).append(each.engine)
    return [[*key[:2], ", ".join(engines), *key[2:]] for key, engines in engines_of.items()]


def steps(measured: Sequence[Accuracy]) -> list[int]:
    """Return the steps that a table shows: those of `SHOWN` that were reached, and the last of each run."""
    reached = {point.step for each in measured for point in each.points}
    return sorted(reached & {*SHOWN, *(each.points[-1].step for each in measured)})


def markdown(results: Iterable[Results]) -> str:
    """Write a page: for one target a section for each rule, for several a table for each dtype and book."""
    with_accuracy = [each for each in results if each.accuracy]
    if len(with_accuracy) > 1:
        return "\n\n".join(["# How accurate frameworks are", SUMMARY, *_summary(with_accuracy)]) + "\n"
    header, measured = with_accuracy[0].header, with_accuracy[0].accuracy
    sections = [
        f"## {rule}\n\n{_of_rule([each for each in measured if each.optimizer == rule])}"
        for rule in dict.fromkeys(each.optimizer for each in measured)
    ]
    return "\n\n".join([f"# How accurate {header.name} is", LEGEND, *sections]) + "\n"


def _of_rule(measured: Sequence[Accuracy]) -> str:
    """Write the table of one rule, without its name."""
    return _fitting(measured, steps(measured), "pipe", ", ", frozenset({"optimizer"}))


def _summary(results: Sequence[Results]) -> Iterator[str]:
    """Yield a table of rule by target for each dtype and book, under headings."""
    every = [each for result in results for each in result.accuracy]
    targets = [result.header.name for result in results]
    for dtype in dict.fromkeys(each.dtype for each in every):
        yield f"## {dtype}"
        for book in dict.fromkeys(each.book for each in every):
            rules = sorted({each.optimizer for each in every if (each.dtype, each.book) == (dtype, book)})
            lines = [[rule, *(_furthest(result.accuracy, rule, dtype) for result in results)] for rule in rules]
            if lines:
                sides = ("left", *("right",) * len(targets))
                written = tabulate(lines, ["rule", *targets], "pipe", colalign=sides, disable_numparse=True)
                yield f"### Rules of {book}, {dtype}\n\n{written}"


def _furthest(measured: Iterable[Accuracy], rule: str, dtype: str) -> str:
    """Return the median error at the end of the training run, of the engine that is furthest off."""
    medians = [
        each.points[-1].update.median
        for each in measured
        if each.about[:2] == (rule, dtype) and each.gradients == "training"
    ]
    return figure(max(medians)) if medians else ""


def csv_text(results: Iterable[Results]) -> str:
    """Write one row for each number of steps, with every digit, after target and version."""
    names = [f"{kind} {spread}" for kind in ("ULP", "update") for spread in SPREADS]
    columns = ["target", "version", "optimizer", "dtype", "engine", "gradients", "elements", "step", *names]
    rows = (
        [
            *(*result.header.about, *each.about, each.elements, point.step),
            *(getattr(spread, name) for spread in (point.ulp, point.update) for name in SPREADS),
        ]
        for result in results
        for each in result.accuracy
        for point in each.points
    )
    return csv_of(columns, rows)


def figure(value: float) -> str:
    """Write a figure with two digits: 1.2e-07, 0.03, 12, 0, or infinity."""
    if value >= LARGEST:
        return "\N{INFINITY}"
    if value == 0 or 0.01 <= value < 1e5:
        return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
    return f"{value:.1e}"


def _cell(measured: Accuracy, step: int) -> str:
    point = next((point for point in measured.points if point.step == step), None)
    return "" if point is None else f"{figure(point.update.median)} ({figure(point.update.largest)})"
