"""Says in one sentence what verdicts on a target come to, and what to do next."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from optimetry.reports.numbers import SLACK
from optimetry.reports.results import Verdict

SAID = {
    "diverges": ("computes no known rule", "compute no known rule"),
    "breaks": ("breaks a law", "break laws"),
    "partly": ("differs in a way that the reason names", "differ in ways that reasons name"),
    "error": ("ended with an error", "ended with errors"),
    "dialect": ("computes another rule", "compute other rules"),
    "imprecise": ("is less precise than its dtype", "are less precise than their dtype"),
}
"""What is said of one rule and of several, the most telling first: outcomes, and two kinds of what diverges."""

SHOWN = 6
"""Names of rules that are listed before the rest is counted."""


def sentence(target: str, verdicts: Sequence[Verdict], wrappers: Container[str]) -> str:
    """Say how many rules a target computes as documented, and of each other rule the worst that is said of it.

    Those whose names are among ``wrappers`` are counted as such.

    Those count that conform in every dtype and engine offered, and beside them those that do in part. A rule whose
    worst is not said of every dtype and engine is that *in part*. Empty where nothing judged is offered.
    """
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.verdict != "unsupported":
            found.setdefault(verdict.optimizer, []).append(_kind(verdict))
    if not found:
        return ""
    others: dict[str, list[str]] = {}
    for name, outcomes in found.items():
        worst = next((outcome for outcome in SAID if outcome in outcomes), None)
        if worst is not None:
            others.setdefault(worst, []).append(name if set(outcomes) == {worst} else f"{name} (in part)")
    good = len(found) - sum(map(len, others.values()))
    if good == len(found):
        return f"{target} computes {'all ' * (good > 1)}{_counted(good, found, wrappers)} as documented."
    if len(found) == 1:
        ((worst, (name,)),) = others.items()
        if worst == "error":  # which says nothing of what would have been computed
            return f"{target}: {name} {SAID[worst][0]}."
        partly = "" if name in found else "in part "
        return f"{target} does not compute {next(iter(found))} as documented: {partly}it {SAID[worst][0]}."
    partly_good = sum("conforms" in outcomes for outcomes in found.values()) - good
    also = f", and {partly_good} in part" if partly_good else ""
    parts = [f"{target} computes {good or 'none'} of {_counted(len(found), found, wrappers)} as documented{also}"]
    parts += [f"{_listed(others[one])} {SAID[one][len(others[one]) > 1]}" for one in SAID if one in others]
    return "; ".join(parts) + "."


def next_step(verdicts: Sequence[Verdict]) -> str | None:
    """Return the rule to look at first, None where all is well: what is unexplained comes before what has a name."""
    for outcome in ("diverges", "dialect", "imprecise"):
        for verdict in verdicts:
            if verdict.verdict == outcome:
                return verdict.optimizer
    return None


def _kind(verdict: Verdict) -> str:
    """Return the outcome, and of what diverges whether its parts are known, or its numbers are as documented."""
    if verdict.verdict != "diverges":
        return verdict.verdict
    if verdict.computes.parts:
        return "partly"
    within = verdict.share is not None and verdict.share <= SLACK
    return "breaks" if verdict.law and within else "diverges"


def _counted(count: int, found: Iterable[str], wrappers: Container[str]) -> str:
    """Count some of what was judged, by the nouns of all of it."""
    nouns = sorted({"wrapper" if name in wrappers else "rule" for name in found})
    return f"{count} {' and '.join(noun + 's' * (count != 1) for noun in nouns)}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > SHOWN:
        return f"{', '.join(names[: SHOWN - 1])} and {len(names) - SHOWN + 1} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
