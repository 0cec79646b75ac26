"""Writes the summary of several frameworks: a row for each rule, a column for each framework."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tabulate import tabulate

from optimetry.reports.arithmetic import described
from optimetry.reports.results import Results, Verdict
from optimetry.reports.tables import about, number

WORDS = {
    "conforms": "conforms",
    "imprecise": "imprecise",
    "diverges": "**diverges**",
    "error": "**error**",
    "unsupported": "unsupported",
}

OTHERWISE = "otherwise: "

LEGEND = """\
A cell says what the framework computes under the rule's name: *conforms*, the documented rule to the last rounding
error; *imprecise*, the documented rule with less precision than the dtype promises, and what causes that; a `name`,
exactly one other rule that explains every case; **diverges**, none known; a dash, nothing offered.
In brackets the largest difference from the documented rule, as a share of the rounding-error bound (up to 1, or 2 where
arithmetic is regrouped, is rounding) and in units in the last place. Dtypes and engines stand before what not all of
them compute."""


def page(results: Sequence[Results], folders: Sequence[str]) -> str:
    """Write the table as a Markdown page that says how to read it and where each column comes from.

    Args:
        results: one for each column.
        folders: where each lies, as links from the page.
    """
    sources = [
        f"- [{each.header.target} {each.header.target_version}]({folder}). {about(each.header)}"
        for each, folder in zip(results, folders, strict=True)
    ]
    return "\n\n".join(["# What frameworks compute", LEGEND, matrix(results), "\n".join(sources)]) + "\n"


def matrix(results: Sequence[Results]) -> str:
    """Write a Markdown table: what each framework computes for each rule, with its worst error ratio and ULP.

    Engines or dtypes that differ are listed apart, with their names. An engine that does not offer a rule which
    another engine offers is left out.
    """
    rules = list(dict.fromkeys(verdict.optimizer for each in results for verdict in each.verdicts))
    columns = ["rule", *(f"{each.header.target} {each.header.target_version}" for each in results)]
    cells = {rule: [_cell(v for v in each.verdicts if v.optimizer == rule) for each in results] for rule in rules}
    rows = [[f"`{rule}`", *row] for rule, row in cells.items()]
    return tabulate(rows, columns, "pipe", disable_numparse=True)


def _cell(verdicts: Iterable[Verdict]) -> str:
    found = list(verdicts)
    offered = {verdict.dtype for verdict in found if verdict.verdict != "unsupported"}
    everything = [v for v in found if v.verdict != "unsupported" or v.dtype not in offered]
    said: dict[str, list[Verdict]] = {}
    for verdict in everything:
        said.setdefault(_statement(verdict), []).append(verdict)
    lines = [_line(text, group, everything) for text, group in said.items()]
    return "<br>".join(sorted(lines, key=lambda line: line.startswith(OTHERWISE)))


def _statement(verdict: Verdict) -> str:
    name = str(verdict.computes.formula) if verdict.computes.found else verdict.dialect
    computed = f"`{name}`" if name else WORDS[verdict.verdict]
    return "; ".join([computed, *map(described, verdict.computes.arithmetic)])


def _line(text: str, group: Sequence[Verdict], everything: Sequence[Verdict]) -> str:
    shares = [verdict.share for verdict in group if verdict.share is not None]
    ulps = [verdict.ulp for verdict in group if verdict.ulp is not None]
    figures = f" ({number(max(shares))}; {number(max(ulps))} ULP)" if shares and ulps else ""
    where = _where(group, everything)
    if len(group) == len(everything) and text == "unsupported":
        return "\N{EN DASH}"
    if len(group) < len(everything) and not where:
        where = OTHERWISE  # some of each dtype and engine
    return f"{where}{text}{figures}"


def _where(group: Sequence[Verdict], everything: Sequence[Verdict]) -> str:
    """Return the dtypes and engines that a statement is about, unless it is about all."""
    parts = []
    for name in ("dtype", "engine"):
        mine, all_of_them = ({getattr(verdict, name): None for verdict in some} for some in (group, everything))
        if list(mine) != list(all_of_them):
            parts.append(", ".join(mine))
    return f"{' '.join(parts)}: " if parts else ""
