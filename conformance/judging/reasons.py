"""Writes the reason of a verdict: of *diverges* the cause first, then how far the target is from the known rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.judging.broken import BrokenLaws
from optimetry.conformance.judging.identifying.nearest import Nearest
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, SLACK, Agreement
from optimetry.reports.parts import HELD

LEAST_JUDGED = 1 / 3
"""The share of the elements whose bound must be finite for a target to be accepted."""


def too_little(agreement: Agreement, limits: Limits) -> str | None:
    """Say that too few elements have a finite bound for a target to be accepted; None where enough have.

    Args:
        agreement: with the documented formula.
        limits: what the target does not offer: of other values the bounds may say more.
    """
    if agreement.judged >= LEAST_JUDGED:
        return None
    pinned = ", ".join(name for name, _ in limits.pinned)
    more = f"; it may say more of other values of what the target pins: {pinned}" if pinned else ""
    return f"too little could be judged: of {1 - agreement.judged:.0%} of the elements the bound says nothing{more}"


def held_otherwise(partial: Mistaken | Split, constants: Mapping[str, Any]) -> str | None:
    """Say that a number has another value than the one that it is said to have, and how to say it; None if none has.

    Args:
        partial: what explains the target in parts.
        constants: what the target says has one value alone.
    """
    if not isinstance(partial, Mistaken):
        return None
    held = partial.mistake.given.get(HELD, {})
    if not held or not set(held) <= set(constants):
        return None
    said = " and ".join(f"{name} = {constants[name]}" for name in held)
    cure = " ".join(f"{name}={value}" for name, value in held.items())
    return f"computes {partial.part.words}, though it is judged at {said}: --with {cure}, or `pinned`, corrects that"


def lawless(laws: BrokenLaws) -> str:
    """Return the reason of a target that breaks laws: the most telling law with its evidence, then the others' names.

    Args:
        laws: the laws, of which at least one is broken.
    """
    first, *others = laws.ordered
    also = f"; also breaks {', '.join(each.law.name for each in others)}" if others else ""
    return f"breaks a law: {first.law.statement} ({first.law.name}: {first.contradiction}){also}"


def but_for_laws(laws: BrokenLaws, explanation: Explanation) -> str:
    """Return the reason of a target that breaks laws, and that an explanation which keeps them explains elsewhere."""
    name = "" if explanation.rule.documented else f"{explanation.rule.name}: "
    return f"{lawless(laws)}; elsewhere it computes {name}{explanation.reason or 'the documented rule'}"


def unexplained(shown: dict[str, Any], share: float, laws: BrokenLaws, nearest: Nearest) -> tuple[str | None, str]:
    """Return the most telling law that is broken, and the reason of a target that no known rule explains, cause first.

    NaN, infinities and arithmetic in float32 are a cause whatever laws they break, and a broken law is one unless it is
    a symptom alone.

    Args:
        shown: its counterexample.
        share: its largest error ratio, over all cases.
        laws: the laws that it breaks, if any.
        nearest: the rule nearest to what it computes.
    """
    nonfinite, single = _nonfinite(shown), _single(nearest)
    distance = _distance(shown, share, nearest, searched=not laws.universal)
    if not laws.broken:
        return None, nonfinite or "; ".join(filter(None, (single, distance)))
    if nonfinite:
        return laws.ordered[0].law.name, f"{nonfinite}; {lawless(laws)}"
    parts = [distance, lawless(laws)] if laws.symptoms_alone else [lawless(laws), distance]
    return laws.ordered[0].law.name, "; ".join(filter(None, (single, *parts)))


def _nonfinite(shown: dict[str, Any]) -> str | None:
    """Say where NaN or an infinity was returned instead of a number; None where neither was."""
    result = float(shown["given"])
    if np.isfinite(result):
        return None
    kind = "NaN" if np.isnan(result) else "an infinity"
    where = f"at step {shown['step']}, element {shown['element']}"
    return f"returned {kind} {where}, where the documented formula gives {float(shown['documented']):.9g}"


def _single(nearest: Nearest) -> str | None:
    """Say that a target is as exact as float32 beside float64; None where it is not."""
    if not nearest.in_float32:
        return None
    rule = "the documented rule" if nearest.rule.documented else f"the rule {nearest.rule.name}"
    return f"no better than {rule} in float32 arithmetic"


def _distance(shown: dict[str, Any], share: float, nearest: Nearest, *, searched: bool) -> str:
    """Say how far the document is, and the nearest known rule where one was searched for and is near.

    That is one with at most half as many wrong digits: what is a little less far is no lead.
    """
    start = "no known rule explains it" if searched else "differs from the documented formula"
    if share == LARGEST_SHARE and shown["bound"] == 0:
        result, documented = (f"{float(shown[name]):.9g}" for name in ("given", "documented"))
        far = f"{result} where the documented formula gives {documented} without any rounding"
    elif share == LARGEST_SHARE:
        far = "infinite where the rule is finite, or different where it is exact"
    else:
        far = f"up to {share:.3g} times what rounding can"
    apart = np.inf if nearest.rule.documented else shown.get("nearest", {}).get("share", np.inf)
    if apart > max(SLACK, share**0.5):
        return f"{start}: {far}"
    away = "explains some cases" if apart <= SLACK else f"is {apart:.3g} bounds away"
    return f"{start}: {far}; the nearest, {nearest.rule.name}, {away}"
