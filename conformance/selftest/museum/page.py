"""Writes the museum's page from what was made of every exhibit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optimetry.conformance.selftest.museum.exhibit import beyond, changes, history
from optimetry.conformance.selftest.museum.showing import BY_ITS_LAW, DECLARED, NOT_NAMED, SEARCHED, Shown

COLUMNS = (
    *("bug", "year", "lived", "shown in", "what was wrong", "rejected by", "named", "as"),
    *("usual test notices", "upstream's tests"),
)

MARK = {True: "yes", False: "**no**"}


def bugs_of(results: Sequence[Shown]) -> list[Shown]:
    """Return the bugs among exhibits, those that must be accepted apart."""
    return [shown for shown in results if not shown.exhibit.honest]


def page(results: Sequence[Shown], about: Mapping[str, object]) -> str:
    """Write the page as Markdown: the same for the same findings."""
    bugs = bugs_of(results)
    honest = [shown for shown in results if shown.exhibit.honest]
    parts = (
        _heading(bugs, honest, about),
        _bugs(bugs),
        _kinds(bugs),
        _left(bugs),
        _changes(),
        _honest(honest),
        _beyond(),
        _made(results),
    )
    return "\n".join(line for part in parts for line in part)


def summary(results: Sequence[Shown]) -> str:
    """Say in a few words what became of exhibits."""
    bugs, honest = bugs_of(results), [shown for shown in results if shown.exhibit.honest]
    accepted = f"; {_of(sum(shown.right for shown in honest), honest)} that must be accepted are" if honest else ""
    return (
        f"{_of(sum(bug.rejected for bug in bugs), bugs)} bugs rejected, {sum(_is_named(bug) for bug in bugs)} named, "
        f"{sum(bug.wrong for bug in bugs)} wrongly; a usual test notices {sum(bug.usual for bug in bugs)}{accepted}"
    )


def _heading(bugs: Sequence[Shown], honest: Sequence[Shown], about: Mapping[str, object]) -> list[str]:
    noticed = sum(bug.usual for bug in bugs)
    missed = sum(history()[bug.name].tests == "missed it" for bug in bugs)
    rejected, named = sum(bug.rejected for bug in bugs), sum(_is_named(bug) for bug in bugs)
    wrong, accepted = sum(bug.wrong for bug in bugs), sum(shown.right for shown in honest)
    return [
        "# The museum: would it have been noticed?",
        "",
        "<!-- Written by `optimetry museum --out docs`; a test holds it against docs/museum.jsonl. -->",
        "",
        f"{len(bugs)} bugs that real optimizers had are rebuilt here in a few lines each, from descriptions on public",
        f"trackers. A test as optimizers usually have it notices {noticed} of them; upstream's own tests missed",
        f"{missed}, as far as is told. optimetry rejects {rejected} with `--effort {about['effort']}`, says what is",
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
        "*Rejected by* is the law that is broken, or the comparison with the document (`oracle`). *Named* says",
        "whether the cause was declared before (a dialect, a mistake, what a run does beside its rule), found by the",
        "search, or is what the law states. A usual test has the default hyperparameters, one tensor of ten elements,",
        "ten steps with gradients from N(0, 1), and `assert_allclose(rtol=1e-5)`. *Upstream's tests* is what the",
        "report says of them.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *map(_row, bugs),
        "",
    ]


def _row(bug: Shown) -> str:
    report, fault = history()[bug.name], bug.exhibit.fault
    cells = (
        f"[{bug.name}]({report.link})",
        str(report.year),
        report.lived,
        fault.optimizer,
        fault.defect,
        bug.rejected_by or "**nothing**",
        bug.named,
        _name(bug),
        MARK[bug.usual],
        report.tests,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _name(bug: Shown) -> str:
    if bug.named == NOT_NAMED:
        return ""
    if bug.named == BY_ITS_LAW:
        return f"breaks `{bug.rejected_by}`"
    text = bug.outcome.partition(": ")[2]
    return f"`{bug.formula}`" if bug.formula else text


def _kinds(bugs: Sequence[Shown]) -> list[str]:
    lines = [
        "## By kind of defect",
        "",
        "| kind | bugs | rejected | declared | found | by its law | not named | wrongly named | a usual test notices |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    kinds = dict.fromkeys(bug.exhibit.kind for bug in bugs)
    for kind, row in [*((kind, [bug for bug in bugs if bug.exhibit.kind == kind]) for kind in kinds), ("all", bugs)]:
        named = [str(sum(bug.named == how for bug in row)) for how in (DECLARED, SEARCHED, BY_ITS_LAW, NOT_NAMED)]
        counts = [str(len(row)), str(sum(bug.rejected for bug in row)), *named, str(sum(bug.wrong for bug in row))]
        lines.append(f"| {kind} | {' | '.join(counts)} | {sum(bug.usual for bug in row)} |")
    return [*lines, ""]


def _left(bugs: Sequence[Shown]) -> list[str]:
    missed = [bug for bug in bugs if not bug.rejected]
    unnamed = [bug for bug in bugs if bug.rejected and bug.named == NOT_NAMED]
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
        f"| [{name}]({history()[name].link}) | {change.surprise} | {change.change} | `{change.fault}` |"
        for name, change in changes().items()
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
    for shown in honest:
        report, fault = history()[shown.name], shown.exhibit.fault
        about = f"[{shown.name}]({report.link}) | {fault.optimizer} | {fault.defect}"
        lines.append(f"| {about} | {shown.outcome} | {MARK[shown.right]} |")
    return [*lines, ""]


def _beyond() -> list[str]:
    known = history()
    again = [f"`{name}` is `{report.same_as}`" for name, report in known.items() if report.same_as]
    return [
        "## Beyond a suite that feeds steps",
        "",
        f"{len(beyond())} entries are shown by no exhibit. Told twice: {', '.join(again)}.",
        "",
        "| entry | what was wrong | what it would take |",
        "|---|---|---|",
        *(f"| [{name}]({known[name].link}) | {entry.computed} | {entry.takes} |" for name, entry in beyond().items()),
        "",
    ]


def _made(results: Sequence[Shown]) -> list[str]:
    minutes = sum(shown.seconds for shown in results) / 60
    longer = [shown for shown in results if shown.search]
    lines = [
        "## How long it takes",
        "",
        f"{minutes:.0f} minutes of a processor, which two cores share.",
    ]
    if longer:
        lines.append(f"A search for two edits was tried on {len(longer)}, {_listed(longer)}")
    return [*lines, ""]


def _is_named(bug: Shown) -> bool:
    return bug.named != NOT_NAMED and not bug.wrong


def _of(count: int, whole: Sequence[Shown]) -> str:
    return f"{count} of {len(whole)}"


def _listed(results: Sequence[Shown]) -> str:
    return f"{', '.join(f'`{shown.name}`' for shown in results)}." if results else "none."
