"""Writes the museum's page from what was made of every exhibit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optimetry.conformance.selftest.museum.exhibit import beyond, changes, history
from optimetry.conformance.selftest.museum.showing import BY_ITS_LAW, DECLARED, NOT_NAMED, SEARCHED, Shown

COLUMNS = (
    *("bug", "year", "lived", "shown in", "what was wrong", "rejected by", "runs", "named", "as"),
    *("usual test notices", "upstream's tests"),
)

MARK = {True: "yes", False: "**no**"}


def bugs_of(found: Sequence[Shown]) -> list[Shown]:
    """Return the bugs among exhibits, those that must be accepted apart."""
    return [one for one in found if not one.exhibit.honest]


def page(found: Sequence[Shown], about: Mapping[str, object]) -> str:
    """Write the page as Markdown: the same for the same findings."""
    bugs = bugs_of(found)
    honest = [one for one in found if one.exhibit.honest]
    parts = (
        _heading(bugs, honest, about),
        _bugs(bugs),
        _kinds(bugs),
        _left(bugs),
        _changes(),
        _honest(honest),
        _beyond(),
        _made(found),
    )
    return "\n".join(line for part in parts for line in part)


def summary(found: Sequence[Shown]) -> str:
    """Say in a few words what became of exhibits."""
    bugs, honest = bugs_of(found), [one for one in found if one.exhibit.honest]
    accepted = f"; {_of(sum(one.right for one in honest), honest)} that must be accepted are" if honest else ""
    return (
        f"{_of(sum(one.rejected for one in bugs), bugs)} bugs rejected, {sum(_is_named(one) for one in bugs)} named, "
        f"{sum(one.wrong for one in bugs)} wrongly; a usual test notices {sum(one.usual for one in bugs)}{accepted}"
    )


def _heading(bugs: Sequence[Shown], honest: Sequence[Shown], about: Mapping[str, object]) -> list[str]:
    noticed = sum(one.usual for one in bugs)
    told = sum(1 for one in bugs if history()[one.name].tests == "missed it")
    rejected, named = sum(one.rejected for one in bugs), sum(_is_named(one) for one in bugs)
    wrong, accepted = sum(one.wrong for one in bugs), sum(one.right for one in honest)
    return [
        "# The museum: would it have been noticed?",
        "",
        "<!-- Written by `optimetry museum --out docs`; a test holds it against docs/museum.jsonl. -->",
        "",
        f"{len(bugs)} bugs that real optimizers had are rebuilt here in a few lines each, from descriptions on public",
        f"trackers. A test as optimizers usually have it notices {noticed} of them; upstream's own tests missed",
        f"{told}, as far as is told. optimetry rejects {rejected} with `--effort {about['effort']}`, says what is",
        f"wrong with {named}, names {wrong or 'none'} wrongly, and accepts {_of(accepted, honest)} correct optimizers",
        "that were taken for wrong, or could be.",
        "",
        "![A square for each bug: what a usual test notices, and what optimetry rejects and names](museum.svg)",
        "",
    ]


def _bugs(bugs: Sequence[Shown]) -> list[str]:
    return [
        "## Every bug",
        "",
        "*Rejected by* is the law that is broken, or the comparison with the document (`oracle`), after so many runs",
        "of the target. *Named* says whether the cause was declared before (a dialect, a mistake, what a run does",
        "beside its rule), found by the search, or is what the law states. A usual test has the default",
        "hyperparameters, one tensor of ten elements, ten steps with gradients from N(0, 1), and",
        "`assert_allclose(rtol=1e-5)`. *Upstream's tests* is what the report says of them.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---|---|---|---|---|---|---:|---|---|---|---|",
        *map(_row, bugs),
        "",
    ]


def _row(one: Shown) -> str:
    told, fault = history()[one.name], one.exhibit.fault
    cells = (
        f"[{one.name}]({told.link})",
        str(told.year),
        told.lived,
        fault.optimizer,
        fault.defect,
        one.rejected_by or "**nothing**",
        str(one.runs),
        one.named,
        _name(one),
        MARK[one.usual],
        told.tests,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _name(one: Shown) -> str:
    if one.named == NOT_NAMED:
        return ""
    if one.named == BY_ITS_LAW:
        return f"breaks `{one.rejected_by}`"
    text = one.outcome.partition(": ")[2]
    return f"`{one.formula}`" if one.formula else text


def _kinds(bugs: Sequence[Shown]) -> list[str]:
    lines = [
        "## By kind of defect",
        "",
        "| kind | bugs | rejected | declared | found | by its law | not named | wrongly named | a usual test notices |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    kinds = dict.fromkeys(one.exhibit.kind for one in bugs)
    for kind, row in [*((kind, [one for one in bugs if one.exhibit.kind == kind]) for kind in kinds), ("all", bugs)]:
        named = [str(sum(one.named == how for one in row)) for how in (DECLARED, SEARCHED, BY_ITS_LAW, NOT_NAMED)]
        counts = [str(len(row)), str(sum(one.rejected for one in row)), *named, str(sum(one.wrong for one in row))]
        lines.append(f"| {kind} | {' | '.join(counts)} | {sum(one.usual for one in row)} |")
    return [*lines, ""]


def _left(bugs: Sequence[Shown]) -> list[str]:
    missed = [one for one in bugs if not one.rejected]
    unnamed = [one for one in bugs if one.rejected and one.named == NOT_NAMED]
    return [
        "## What is missed, and what has no name",
        "",
        f"Missed: {_listed(missed)}",
        "",
        "Rejected, with a counterexample, but not named, since no declared formula nor one within the edits that are",
        f"tried, nor anything that a run is known to do beside its rule, explains every case: {_listed(unnamed)}",
        "",
    ]


def _changes() -> list[str]:
    rows = [
        f"| [{name}]({history()[name].link}) | {one.surprise} | {one.change} | `{one.fault}` |"
        for name, one in changes().items()
    ]
    return [
        "## What changed because of them",
        "",
        "Bugs that were not expected, what was added to the suite because of each, and the planted fault that is",
        "rejected by it ([sensitivity](sensitivity.md)).",
        "",
        "| bug | what surprised | what changed | planted fault |",
        "|---|---|---|---|",
        *rows,
        "",
    ]


def _honest(honest: Sequence[Shown]) -> list[str]:
    lines = [
        "## What must be accepted",
        "",
        "Conventions under their names, and what wrong reports and misleading documents took for bugs.",
        "",
        "| target | judged as | what it does | verdict | right |",
        "|---|---|---|---|---|",
    ]
    for one in honest:
        told, fault = history()[one.name], one.exhibit.fault
        cells = f"[{one.name}]({told.link}) | {fault.optimizer} | {fault.defect} | {one.outcome} | {MARK[one.right]}"
        lines.append(f"| {cells} |")
    return [*lines, ""]


def _beyond() -> list[str]:
    known = history()
    again = [f"`{name}` is `{told.same_as}`" for name, told in known.items() if told.same_as]
    return [
        "## Beyond a suite that feeds steps",
        "",
        f"{len(beyond())} entries are shown by no exhibit. Told twice: {', '.join(again)}.",
        "",
        "| entry | what was wrong | what it would take |",
        "|---|---|---|",
        *(f"| [{name}]({known[name].link}) | {one.computed} | {one.takes} |" for name, one in beyond().items()),
        "",
    ]


def _made(found: Sequence[Shown]) -> list[str]:
    minutes = sum(one.seconds for one in found) / 60
    longer = [one for one in found if one.search]
    lines = [
        "## How long it takes",
        "",
        f"{minutes:.0f} minutes of a processor, which two cores share.",
    ]
    if longer:
        lines.append(f"A search for two edits was tried on {len(longer)}, {_listed(longer)}")
    return [*lines, ""]


def _is_named(one: Shown) -> bool:
    return one.named != NOT_NAMED and not one.wrong


def _of(count: int, whole: Sequence[Shown]) -> str:
    return f"{count} of {len(whole)}"


def _listed(found: Sequence[Shown]) -> str:
    return f"{', '.join(f'`{one.name}`' for one in found)}." if found else "none."
