"""Summarizes the verdicts on a target in one sentence, and names the rule to look at first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from optimetry.reports.numbers import SLACK
from optimetry.reports.parts import complete
from optimetry.reports.results import Verdict

SAID = {
    "diverges": ("computes no known rule", "compute no known rule"),
    "breaks": ("breaks a law", "break laws"),
    "partly": ("differs in a way that the reason names", "differ in ways that reasons name"),
    "error": ("ended with an error", "ended with errors"),
    "dialect": ("computes another rule", "compute other rules"),
    "imprecise": ("is less precise than its dtype", "are less precise than their dtype"),
}
"""The words for one rule and for several, the most telling first, by outcome and two more kinds of divergence."""

SHOWN = 6
"""Names of rules that are listed before the rest is counted."""


def sentence(target: str, verdicts: Sequence[Verdict], wrappers: Container[str]) -> str:
    """Say how many rules a target computes as documented, and the worst kind of each other rule.

    Names among ``wrappers`` are counted as wrappers.

    A rule counts if it conforms in every dtype and engine offered; those that conform in some are counted *in part*.
    The worst kind of a rule is *in part*, too, if some dtype or engine is of another. Empty where nothing is offered.
    """
    kinds_of: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.verdict != "unsupported":
            kinds_of.setdefault(verdict.optimizer, []).append(_kind(verdict))
    if not kinds_of:
        return ""
    others: dict[str, list[str]] = {}
    for name, outcomes in kinds_of.items():
        worst = next((outcome for outcome in SAID if outcome in outcomes), None)
        if worst is not None:
            others.setdefault(worst, []).append(name if set(outcomes) == {worst} else f"{name} (in part)")
    good = len(kinds_of) - sum(map(len, others.values()))
    if good == len(kinds_of):
        return f"{target} computes {'all ' * (good > 1)}{_counted(good, kinds_of, wrappers)} as documented."
    if len(kinds_of) == 1:
        ((worst, (name,)),) = others.items()
        if worst == "error":  # which says nothing of what would have been computed
            return f"{target}: {name} {SAID[worst][0]}."
        partly = "" if name in kinds_of else "in part "
        if worst == "imprecise":
            return (
                f"{target} computes {next(iter(kinds_of))} as documented, {partly}with less precision than its dtype."
            )
        return f"{target} does not compute {next(iter(kinds_of))} as documented: {partly}it {SAID[worst][0]}."
    partly_good = sum("conforms" in outcomes for outcomes in kinds_of.values()) - good
    also = f", and {partly_good} in part" if partly_good else ""
    parts = [f"{target} computes {good or 'none'} of {_counted(len(kinds_of), kinds_of, wrappers)} as documented{also}"]
    parts += [f"{_listed(others[kind])} {SAID[kind][len(others[kind]) > 1]}" for kind in SAID if kind in others]
    return "; ".join(parts) + "."


def next_step(verdicts: Sequence[Verdict]) -> str | None:
    """Return the rule to look at first: what is unexplained comes before what has a name; None where none differs."""
    for outcome in ("diverges", "dialect", "imprecise"):
        for verdict in verdicts:
            if verdict.verdict == outcome:
                return verdict.optimizer
    return None


def _kind(verdict: Verdict) -> str:
    """Return the outcome; of a divergence also whether its parts are known, or its numbers are as documented."""
    if verdict.verdict != "diverges":
        return verdict.verdict
    if complete(verdict.computes.parts):
        return "partly"
    within = verdict.share is not None and verdict.share <= SLACK
    return "breaks" if verdict.law and within else "diverges"


def _counted(count: int, names: Iterable[str], wrappers: Container[str]) -> str:
    """Write a count with its noun: rules, wrappers, or both if the names are of both."""
    nouns = sorted({"wrapper" if name in wrappers else "rule" for name in names})
    return f"{count} {' and '.join(noun + 's' * (count != 1) for noun in nouns)}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > SHOWN:
        return f"{', '.join(names[: SHOWN - 1])} and {len(names) - SHOWN + 1} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
