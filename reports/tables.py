"""Writes verdicts as tables: for a terminal, in Markdown and in CSV."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tabulate import tabulate

from optimetry.reports.csv_text import csv_of
from optimetry.reports.markdown import plain_in_cell
from optimetry.reports.numbers import NONE, number, percent, share_text
from optimetry.reports.results import OUTCOMES, Header, Results, Verdict, line

COLUMNS = ("optimizer", "dtype", "engine", "verdict", "computes", "share", "ULP", "vacuous", "cases", "reason")
_ALIGNMENT = ("left",) * 5 + ("right",) * 4 + ("left",)

BROKEN = {"share": 9, "engine": 8, "computes": 16}
"""The columns whose cells may take several lines, in this order, with their least widths."""

SPARED = ("cases", "vacuous", "ULP")
"""The columns that a narrow terminal goes without, in this order; files have them."""


def terminal(verdicts: Iterable[Verdict], width: int = 120) -> str:
    """Write a table of at most ``width`` characters, as far as the names allow, with the reasons in full below it.

    Engines with the same verdict on one optimizer and dtype share a row. The columns ``engine`` and ``computes`` are
    left out where they are empty, and `SPARED` where there is no room. What is not offered has no row: one line below
    the table names it.
    """
    merged = list(_merged(verdicts))
    absent = [(verdict, engine) for verdict, engine in merged if verdict.verdict == "unsupported"]
    offered = [(verdict, engine) for verdict, engine in merged if verdict.verdict != "unsupported"]
    texts = [_table(offered, width)] if offered or not absent else []
    return "\n\n".join([*texts, *([_unsupported(absent, width)] if absent else [])])


def _table(merged: Iterable[tuple[Verdict, str]], width: int) -> str:
    notes: dict[str, str] = {}
    rows = []
    for verdict, engine in merged:
        row = _row(dataclasses.replace(verdict, engine=engine))
        row[-1] = notes.setdefault(row[-1], f"[{len(notes) + 1}]") if row[-1] else ""
        rows.append(row)
    silent = {"engine": {"default"}, "computes": {NONE}, "reason": {""}}
    kept = [i for i, name in enumerate(COLUMNS) if {row[i] for row in rows} != silent.get(name)]
    widths = {i: max(len(row[i]) for row in (COLUMNS, *rows)) for i in kept}
    least = {i: min(widths[i], BROKEN.get(COLUMNS[i], widths[i])) for i in kept}
    for spared in map(COLUMNS.index, SPARED):
        if _total(least[i] for i in kept) > width:
            kept.remove(spared)
    for i in (i for i in map(COLUMNS.index, BROKEN) if i in kept):
        excess = _total(widths[i] for i in kept) - width
        if excess > 0:
            most = max(widths[i] - excess, least[i])
            for row in rows:
                row[i] = _broken(row[i], most)
            widths[i] = max(len(text) for row in (COLUMNS, *rows) for text in row[i].split("\n"))
    lines = [[row[i] for i in kept] for row in (COLUMNS, ["-" * widths.get(i, 0) for i in range(len(COLUMNS))], *rows)]
    # tabulate pads its own headers, for which a terminal has no room.
    table = tabulate(lines, tablefmt="plain", colalign=[_ALIGNMENT[i] for i in kept], disable_numparse=True)
    text = "\n".join(line.rstrip() for line in table.splitlines())
    return "\n".join(
        [text, *([""] if notes else []), *(_note(label, reason, width) for reason, label in notes.items())]
    )


def _total(widths: Iterable[int]) -> int:
    """Add up the widths of columns and what is between them."""
    widths = list(widths)
    return sum(widths) + 2 * (len(widths) - 1)


def _unsupported(absent: Sequence[tuple[Verdict, str]], width: int) -> str:
    """Name what is not offered in one line, with the reason where it is the same for all."""
    dtypes: dict[tuple[str, str], list[str]] = {}
    for verdict, engine in absent:
        dtypes.setdefault((verdict.optimizer, engine), []).append(verdict.dtype)
    common = max(dtypes.values(), key=len)
    names = []
    for (optimizer, engine), offered in dtypes.items():
        where = ([] if engine in ("default", "all") else [engine]) + (offered if offered != common else [])
        names.append(f"{optimizer} ({', '.join(where)})" if where else optimizer)
    reasons = {" ".join(verdict.reason.split()) for verdict, _ in absent}
    why = f": {reasons.pop()}" if len(reasons) == 1 else ""
    return textwrap.fill(
        f"unsupported in {', '.join(common)}: {', '.join(names)}{why}", width, subsequent_indent=" " * 5
    )


def _merged(verdicts: Iterable[Verdict]) -> Iterator[tuple[Verdict, str]]:
    """Yield one verdict for engines that agree in everything a row shows, and their names, or ``all`` that offer it."""
    for _, group in groupby(verdicts, key=lambda verdict: (verdict.optimizer, verdict.dtype)):
        engines: dict[str, tuple[Verdict, list[str]]] = {}
        for verdict in group:
            shown = dataclasses.replace(verdict, engine="", counterexample=None)
            engines.setdefault(line(shown), (shown, []))[1].append(verdict.engine)
        rows = engines.values()
        offered = [names for verdict, names in rows if verdict.verdict != "unsupported"] or [names for _, names in rows]
        for verdict, names in rows:
            yield verdict, "all" if offered == [names] and len(names) > 1 else ", ".join(names)


def _broken(name: str, room: int) -> str:
    """Break a long name into several lines, after underscores, commas and spaces."""
    lines = [""]
    for word in re.findall(r"[^_, ]*[_, ]*", name):
        if len(lines[-1] + word) > room and lines[-1]:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)


def _note(label: str, reason: str, width: int) -> str:
    return textwrap.fill(reason, width, initial_indent=f"{label:<5}", subsequent_indent=" " * 5)


def markdown(results: Iterable[Results]) -> str:
    """Write a page with one section for each file: what was judged and how, the verdicts, and their counts."""
    return "\n".join(_section(each) for each in results)


def _section(results: Results) -> str:
    header = results.header
    rows = [list(map(plain_in_cell, _row(verdict))) for verdict in results.verdicts]
    table = tabulate(rows, COLUMNS, "pipe", colalign=_ALIGNMENT, disable_numparse=True)
    return f"## {header.name}\n\n{about(header)}\n\n{table}\n\n{summary(results.verdicts)}\n"


def about(header: Header) -> str:
    """Describe how the records under this header were made, in one sentence."""
    if header.effort == "none":
        return f"Measured by optimetry {header.optimetry}, on {header.platform}."
    return f"Judged by optimetry {header.optimetry}, effort {header.effort}, seed {header.seed}, on {header.platform}."


def summary(verdicts: Sequence[Verdict]) -> str:
    """Count the verdicts of each outcome: ``3 verdicts: 2 conforms, 1 error``."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    counted = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    noun = "verdict" if len(verdicts) == 1 else "verdicts"
    return f"{len(verdicts)} {noun}: {counted}" if counted else "no verdicts"


def csv_text(results: Iterable[Results]) -> str:
    """Write one row for each verdict with every digit, empty where there is no number, after target and version."""
    rows = (
        [
            *each.header.about,
            *(v.optimizer, v.dtype, v.engine, v.verdict, v.computes),
            *(v.share, v.ulp, v.vacuous, v.cases, _reason(v)),
        ]
        for each in results
        for v in each.verdicts
    )
    return csv_of(["target", "version", *COLUMNS], rows)


def _row(verdict: Verdict) -> list[str]:
    return [
        verdict.optimizer,
        verdict.dtype,
        verdict.engine,
        verdict.verdict,
        _computes(verdict),
        share_text(verdict.share),
        number(verdict.ulp),
        percent(verdict.vacuous) if verdict.cases else NONE,
        str(verdict.cases) if verdict.cases else NONE,
        " ".join(_reason(verdict).split()),
    ]


def _reason(verdict: Verdict) -> str:
    """Write the reason, and what was not tried."""
    untried = f"not tried: {', '.join(verdict.untried)}" if verdict.untried else ""
    return "; ".join(text for text in (verdict.reason, untried) if text)


def _computes(verdict: Verdict) -> str:
    """Write what is computed, if it is not plainly the documented rule."""
    computes = verdict.computes
    if computes.rule == "documented":
        computes = dataclasses.replace(computes, rule=None)
    return str(computes) or NONE
