"""Writes certificates as tables: for a terminal, in Markdown and in CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tabulate import tabulate

from optimetry.reports.certificate import Certificate, Place
from optimetry.reports.csv_text import csv_of
from optimetry.reports.markdown import plain_in_cell
from optimetry.reports.numbers import NONE
from optimetry.reports.results import Results

COLUMNS = ("optimizer", "dtype", "engine", "step", "setting", "pairs", "judged", "flushed", "failures", "share", "ULP")

FIGURES = ("pairs", "judged", "flushed", "failures")

NOTHING = {"engine": "default", "setting": "defaults", "flushed": "0"}
"""Cells that say nothing: a narrow table leaves out a column of them."""

LEGEND = """\
Each engine was compared with the documented rule on *all* pairs of a parameter and a gradient that the dtype has, in
the first step, or on all gradients with drawn states in a later one; otherwise the part of them that was drawn stands
in brackets. *Judged* is the part of the pairs whose bound is finite: of the others nothing can be said, such as where a
square overflows. *Flushed* pairs are within the slack only if a subnormal number may become zero. *Share* is the
largest error ratio, and *ULP* the largest difference in units in the last place, with the bits of the parameter and
each gradient where it occurs first; of many steps the first and the last gradient stand for all."""


def terminal(certificates: Sequence[Certificate], width: int) -> str:
    """Write the table for a terminal of some width, as far as names allow.

    Where there is no room, arguments stand below the figures, and columns that say nothing are left out.
    """
    text = _table(rows(certificates), COLUMNS, "simple")
    if max(map(len, text.splitlines())) <= width:
        return text
    cells = rows(certificates, "\n", "\n")
    kept = [i for i, name in enumerate(COLUMNS) if {row[i] for row in cells} != {NOTHING.get(name)}]
    short = [[row[i].partition("\n")[0] if COLUMNS[i] == "ULP" else row[i] for i in kept] for row in cells]
    return _table(short, [COLUMNS[i] for i in kept], "simple")


def table(certificates: Sequence[Certificate]) -> str:
    """Write the table in Markdown."""
    return _table([list(map(plain_in_cell, row)) for row in rows(certificates)], COLUMNS, "pipe")


def _table(cells: Sequence[Sequence[str]], names: Sequence[str], form: str) -> str:
    sides = ["right" if name in FIGURES else "left" for name in names]
    return tabulate(cells, names, form, colalign=sides, disable_numparse=True)


def rows(certificates: Iterable[Certificate], at: str = " at ", of: str = " ") -> list[list[str]]:
    """Return the cells of the table, row by row.

    Args:
        certificates: one for each row.
        at: the text between a figure and its arguments.
        of: the text between a number of pairs and its share of all pairs.
    """
    return [
        [
            *each.about,
            compared(each, of),
            _percent(each.judged, max(each.pairs, 1), 1),
            f"{each.flushed:,}",
            f"error: {each.reason}" if each.reason else f"{each.failures:,}",
            _cell(each.share, at, ".3g"),
            _cell(each.ulp, at, ",.0f"),
        ]
        for each in certificates
    ]


def compared(certificate: Certificate, of: str = " ") -> str:
    """Say how many pairs were compared, and which share of all that is: ``all 4,294,967,296``."""
    if certificate.pairs == certificate.space:
        return f"all {certificate.pairs:,}"
    return f"{certificate.pairs:,}{of}({_percent(certificate.pairs, certificate.space, 2)} of all)"


def _percent(part: int, whole: int, digits: int) -> str:
    """Write a part in percent, rounded to all only where it is all."""
    most = 1.0 if part == whole else 1 - 0.1 ** (digits + 2)
    return f"{min(part / whole, most):.{digits}%}"


def _cell(place: Place | None, at: str, digits: str) -> str:
    if place is None:
        return NONE
    first, *others = place.gradients
    last = f" \N{HORIZONTAL ELLIPSIS} {others[-1]}" if len(others) > 1 else "".join(f" {each}" for each in others)
    return f"{place.value:{digits}}{at}w {place.parameter}, g {first}{last}"


def failures(certificates: Iterable[Certificate]) -> Iterator[str]:
    """Yield a line for each failure that is kept with its arguments."""
    for each in certificates:
        for example in each.examples:
            who = f"{each.optimizer} {each.dtype} (engine {each.engine}, {each.setting})"
            arguments = f"w {example.parameter}, g {' '.join(example.gradients)}"
            right = f"{example.expected:.9g} \N{PLUS-MINUS SIGN} {example.bound:.2g}"
            yield f"failure: {who}: {arguments} gives {example.result}, must be {right}"


def markdown(results: Iterable[Results]) -> str:
    """Write a page with a section for each target that has certificates."""
    sections = [f"## {each.header.name}\n\n{table(each.certificates)}" for each in results if each.certificates]
    return "\n\n".join(["# Certificates", LEGEND, *sections]) + "\n"


def csv_text(results: Iterable[Results]) -> str:
    """Write one row for each certificate, with every digit, after target and version."""
    counts = ("space", "pairs", "vacuous", "flushed", "failures")
    names = [f"{kind}{part}" for kind in ("share", "ULP") for part in ("", " parameter", " gradients")]
    columns = ["target", "version", "optimizer", "dtype", "engine", "step", "setting", *counts, *names, "reason"]
    rows = (
        [
            *(*result.header.about, *each.about),
            *(getattr(each, name) for name in counts),
            *(*_parts(each.share), *_parts(each.ulp), each.reason),
        ]
        for result in results
        for each in result.certificates
    )
    return csv_of(columns, rows)


def _parts(place: Place | None) -> list[Any]:
    return ["", "", ""] if place is None else [place.value, place.parameter, " ".join(place.gradients)]
