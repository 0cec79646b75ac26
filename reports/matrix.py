"""Writes the summary of several frameworks: a row for each rule, a column for each framework."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from optimetry.reports.arithmetic import described
from optimetry.reports.markdown import in_cell
from optimetry.reports.numbers import NONE, SLACK, number, share_text
from optimetry.reports.results import Outcome, Results, Verdict
from optimetry.reports.tables import about

WORDS = {
    "conforms": "conforms",
    "imprecise": "imprecise",
    "diverges": "**diverges**",
    "error": "**error**",
    "unsupported": "unsupported",
}

OTHERWISE = "otherwise"

LEGEND = """\
A cell says what the framework computes under the rule's name: *conforms*, the documented rule to the last rounding
error; *imprecise*, the documented rule with less precision than the dtype promises, and what causes that; a `name`,
exactly one other rule that explains every case; **diverges**, none known, or the law that is broken, where the
difference may be within rounding; a dash, nothing offered.
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
        f"- [{each.header.name}]({folder}). {about(each.header)}" for each, folder in zip(results, folders, strict=True)
    ]
    return "\n\n".join(["# What frameworks compute", LEGEND, matrix(results), "\n".join(sources)]) + "\n"


def matrix(results: Sequence[Results]) -> str:
    """Write a Markdown table: what each framework computes for each rule, with its worst error ratio and ULP.

    Engines or dtypes that differ are listed apart, with their names. An engine that does not offer a rule which
    another engine offers is left out.
    """
    rules = list(dict.fromkeys(verdict.optimizer for each in results for verdict in each.verdicts))
    columns = ["rule", *(each.header.name for each in results)]
    cells = {rule: [_cell(v for v in each.verdicts if v.optimizer == rule) for each in results] for rule in rules}
    rows = [[f"`{rule}`", *row] for rule, row in cells.items()]
    return tabulate(rows, columns, "pipe", disable_numparse=True)


@dataclass(frozen=True)
class Statement:
    """What some engines of a framework compute for a rule in some dtypes.

    Attributes:
        outcome: the verdict on them.
        name: the other rule that they compute, or its formula; None where there is none.
        ways: how they compute it, in words.
        where: the dtypes and engines; empty where it is all of them.
        share: the largest error ratio.
        ulp: the largest difference in units in the last place. Both None where nothing was compared.
        verdicts: the verdicts themselves.
    """

    outcome: Outcome
    name: str | None
    ways: tuple[str, ...]
    where: str
    share: float | None
    ulp: int | None
    verdicts: tuple[Verdict, ...]

    @property
    def law(self) -> str | None:
        """The law that is broken by what has no name."""
        return self.verdicts[0].law if self.outcome == "diverges" else None

    @property
    def differs(self) -> bool:
        """Whether results differ from the documented ones by more than rounding, not where a law alone is broken."""
        rounding = self.law is not None and self.share is not None and self.share <= SLACK
        return self.outcome in ("imprecise", "dialect", "diverges") and not rounding


def statements(verdicts: Iterable[Verdict]) -> list[Statement]:
    """Group the verdicts on one rule by what they say; the statement on all others comes last."""
    verdicts = list(verdicts)
    offered = {verdict.dtype for verdict in verdicts if verdict.verdict != "unsupported"}
    everything = [v for v in verdicts if v.verdict != "unsupported" or v.dtype not in offered]
    groups: dict[tuple[Outcome, str | None, tuple[str, ...]], list[Verdict]] = {}
    for verdict in everything:
        ways = tuple(map(described, verdict.computes.arithmetic))
        groups.setdefault((verdict.verdict, _name(verdict), ways), []).append(verdict)
    made = []
    for (outcome, name, ways), group in groups.items():
        shares = [verdict.share for verdict in group if verdict.share is not None]
        ulps = [verdict.ulp for verdict in group if verdict.ulp is not None]
        where = _where(group, everything)
        if len(group) < len(everything) and not where:
            where = OTHERWISE  # some of each dtype and engine
        figures = max(shares, default=None), max(ulps, default=None)
        made.append(Statement(outcome, name, ways, where, *figures, tuple(group)))
    return sorted(made, key=lambda statement: statement.where == OTHERWISE)


def _name(verdict: Verdict) -> str | None:
    return verdict.computes.formula if verdict.computes.found else verdict.dialect


def _cell(verdicts: Iterable[Verdict]) -> str:
    stated = statements(verdicts)
    if [statement.outcome for statement in stated] == ["unsupported"]:
        return NONE
    return "<br>".join(map(_line, stated))


def _line(statement: Statement) -> str:
    computed = f"`{in_cell(statement.name)}`" if statement.name else WORDS[statement.outcome]
    share, ulp = statement.share, statement.ulp
    figures = "" if share is None or ulp is None else f" ({share_text(share)}; {number(ulp)} ULP)"
    where = f"{statement.where}: " if statement.where else ""
    law = f", breaks {statement.law}" if statement.law else ""
    return f"{where}{'; '.join([computed, *statement.ways])}{law}{figures}"


def _where(group: Sequence[Verdict], everything: Sequence[Verdict]) -> str:
    """Return the dtypes and engines that a statement is about, unless it is about all."""
    parts = []
    for name in ("dtype", "engine"):
        mine, all_of_them = ({getattr(verdict, name): None for verdict in some} for some in (group, everything))
        if list(mine) != list(all_of_them):
            parts.append(", ".join(mine))
    return " ".join(parts)
