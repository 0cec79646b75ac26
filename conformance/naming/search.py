"""Searches for a formula that nobody has declared: known ones with one or two edits that explain what a target does.

Programs are first evaluated in double precision on a few telling cases. That decides nothing: the nearest are then held
against the target within the derived bound, as every explanation is. Programs that give the same numbers are one class,
for which the simplest stands.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.budget import Budget
from optimetry.conformance.naming.candidates import sets_of_numbers
from optimetry.conformance.naming.edited import Edited, fixed, started, traced
from optimetry.conformance.naming.edits import Edit
from optimetry.conformance.naming.elsewhere import OtherRule
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.fed import Runs, fed_in
from optimetry.conformance.naming.nearby import Nearby
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.naming.rivals import same
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named

MOST_EDITS = 2
"""In how many places a known formula is edited."""

MOST_FOUND = 4
"""How many formulas are found at most that explain a target equally."""


def edited_formulas(
    starts: Iterable[PointClass],
    runs: Runs,
    holds: Callable[[Explanation], bool],
    budget: Budget | None = None,
    most_edits: int = MOST_EDITS,
    telling: Sequence[Case] = (),
) -> list[Edited]:
    """Return the formulas, as few edits away from a known one as there are any, that explain a target.

    Those that explain it equally are told apart by none of its runs; the simplest comes first.

    Args:
        starts: the known formulas, the documented one first; one edit is tried on that, then on all others together,
            two on the first two.
        runs: what the target gave in the telling cases.
        holds: whether a formula explains whatever else the target was fed.
        budget: what the search may cost.
        most_edits: in how many places a formula is edited.
        telling: further cases in which formulas may differ that are the same in all runs.
    """
    budget = budget or Budget()
    if sum(np.count_nonzero(np.isfinite(x)) for _, x in runs) < FINITE * sum(x.size for _, x in runs):
        return []  # nothing that a finite bound could explain
    known, cases = list(starts), [*(case for case, _ in runs), *telling]
    unedited = [Edited(start, (), runs[0][0].hyper) for start in known]
    explaining = list(_holding(unedited, _passes(runs)[0][1], runs, holds))
    if explaining:  # what such a formula leaves open, such as NaN, is no matter of edits
        return explaining if all(isinstance(one.start.dialect, OtherRule) for one in explaining) else []
    for count, together in (1, known[:1]), (1, known[1:]), (2, known[:1]), (2, known[1:2]):
        budget.edits = count
        for coarse, ways in (_passes(runs) if count == 1 else _passes(runs)[:1]) if count <= most_edits else ():
            classes = chain.from_iterable(nearest(start, runs, count, budget, coarse) for start in together)
            found: list[Edited] = []
            for member in sorted(chain.from_iterable(classes), key=lambda formula: formula.size):
                if len(found) < MOST_FOUND and not any(same(member, other, cases) for other in found):
                    found += islice(_holding([member], ways, runs, holds), 1)
            if found:
                return found
    return []


def _passes(runs: Runs) -> list[tuple[float, list[Arithmetic]]]:
    """Return how near formulas must be to be judged at all, as a roundoff, and how these may be computed.

    Beside float64 parameters numbers may be held in float32, which is as far from a formula as float32 is.
    """
    case = runs[0][0]
    flushed = Arithmetic(flushes_subnormals=True)
    passes = [(case.form.roundoff, [PLAIN, flushed])]
    if case.dtype == "float64":
        numbers = subject_named(case.optimizer).numbers
        sharp = [Arithmetic(float32=chosen) for chosen in sets_of_numbers(numbers)]
        passes.append((FORMATS["float32"].roundoff, [*sharp, Arithmetic(float32_in_some_uses=numbers)]))
    return passes


def _holding(
    members: Iterable[Edited], ways: Sequence[Arithmetic], runs: Runs, holds: Callable[[Explanation], bool]
) -> Iterator[Edited]:
    """Yield the formulas that hold, each computed in the first way in which it does."""
    for formula in members:
        for way in ways:
            computed = dataclasses.replace(formula, arithmetic=way)
            if _holds(computed.explanation, runs, holds):
                yield computed
                break


def _holds(explanation: Explanation, runs: Runs, holds: Callable[[Explanation], bool]) -> bool:
    return explains_most(explanation, runs) and holds(explanation)


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
            if not explains(after, oracle, case.form):
                return False
        except (KeyError, TypeError, ValueError):  # it asks for what a wrapper is not given, or no bounds can answer
            return False
        finite += int(np.count_nonzero(np.isfinite(oracle.bound)))
        judged += int(np.count_nonzero(np.isfinite(oracle.bound) | np.isnan(oracle.value)))
        elements += oracle.value.size
    return judged >= JUDGED * elements and finite >= FINITE * elements


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the search for cyclic garbage: millions of expressions are made, and none of them is in a cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def nearest(start: PointClass, runs: Runs, count: int, budget: Budget, coarse: float) -> list[list[Edited]]:
    """Return the classes of formulas with so many edits that are nearest to a target, each with its simplest members.

    The members of a class give the same in these runs, and perhaps not in others. ``coarse`` is the roundoff of the
    least precise numbers that the target may hold.
    """
    hyper = runs[0][0].hyper
    rule = started(start, hyper)
    program = traced(start, hyper) if budget.wanted() else None
    if program is None:
        return []
    numbers = [x.name for x in rule.hyperparameters() if x.kind is float and x.name not in fixed(start)]
    fed = fed_in(runs, coarse, partial(started, start))
    search = Nearby(program, numbers, fed, budget, lambda edits: Edited(start, edits, hyper).name)
    with np.errstate(all="ignore"), _without_collector():
        found = search.single() if count == 1 else search.double()
    if count > 1:
        # Beside another edit a guard may only decide what 0/0 is, which any small number does: its value is no finding.
        found = [
            [edits for edits in members if not any(isinstance(one, Edit) and one.is_guard for one in edits)]
            for members in found
        ]
    return [[Edited(start, edits, hyper) for edits in members] for members in found]
