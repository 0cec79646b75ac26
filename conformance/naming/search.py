"""Searches for a formula that nobody has declared: known ones with one or two edits that explain what a target does.

Programs are first evaluated in double precision on a few telling cases. That decides nothing: the nearest are then held
against the target within the derived bound, as every explanation is. Programs that give the same numbers are one class,
for which the simplest stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np

from optimetry.conformance.naming.edited import Edited, started
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.fed import Runs, fed_in
from optimetry.conformance.naming.nearby import Budget, Nearby
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.naming.programs import program_of
from optimetry.conformance.numerics.agreement import explains

MOST_EDITS = 2
"""In how many places a known formula is edited."""


def edited_formulas(
    starts: Iterable[PointClass],
    runs: Runs,
    holds: Callable[[Explanation], bool],
    budget: Budget | None = None,
    most_edits: int = MOST_EDITS,
) -> list[Edited]:
    """Return the formulas, as few edits away from a known one as there are any, that explain a target.

    Classes that explain it equally are told apart by none of its runs; the simplest comes first.

    Args:
        starts: the known formulas, those of one optimizer; one edit is tried on all of them, two on the first two.
        runs: what the target gave in the telling cases.
        holds: whether a formula explains whatever else the target was fed.
        budget: what the search may cost.
        most_edits: in how many places a formula is edited.
    """
    budget, known = budget or Budget(), list(starts)
    for count in range(1, most_edits + 1):
        for start in known if count == 1 else known[:2]:
            found = []
            for members in nearest(start, runs, count, budget):
                holding = (x for x in members if explains_most(x.explanation, runs) and holds(x.explanation))
                found += list(islice(holding, 1))
            if found:
                return found
    return []


JUDGED = 0.5
"""The least part of all elements that a formula must explain by a finite bound, or as NaN in both."""

FINITE = 0.1
"""The least part that a finite bound must explain: what is NaN everywhere is explained by any formula that is."""


def explains_most(explanation: Explanation, runs: Runs) -> bool:
    """Whether a formula explains every run, and most elements by what can be computed of them."""
    finite, judged, elements = 0, 0, 0
    for case, after in runs:
        try:
            oracle = explanation.expected(case)
        except (KeyError, TypeError, ValueError):  # it asks for what a wrapper is not given, or no bounds can answer
            return False
        if not explains(after, oracle, case.form):
            return False
        finite += int(np.count_nonzero(np.isfinite(oracle.bound)))
        judged += int(np.count_nonzero(np.isfinite(oracle.bound) | np.isnan(oracle.value)))
        elements += oracle.value.size
    return judged >= JUDGED * elements and finite >= FINITE * elements


def nearest(start: PointClass, runs: Runs, count: int, budget: Budget) -> list[list[Edited]]:
    """Return the classes of formulas with so many edits that are nearest to a target, each with its simplest members.

    The members of a class give the same in these runs, and perhaps not in others.
    """
    hyper = runs[0][0].hyper
    rule = started(start, hyper)
    program = program_of(rule)
    if program is None:
        return []
    search = Nearby(program, [x.name for x in rule.hyperparameters() if x.kind is float], fed_in(runs), budget)
    with np.errstate(all="ignore"):
        found = search.single() if count == 1 else search.double()
    return [[Edited(start, edits, hyper) for edits in members] for members in found]
