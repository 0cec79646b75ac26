"""Searches for a formula that nobody has declared: known ones with one to four edits that explain what a target does.

Programs are first evaluated in double precision on a few telling cases. That decides nothing: the nearest are then held
against the target within the derived bound, as every explanation is. Programs that give the same numbers are one class,
for which the simplest stands.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.candidates import sets_of_numbers, ways_of
from optimetry.conformance.naming.edits.rewritten import Rewritten, with_edits
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.edits.widened import widenings
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import StepCount
from optimetry.conformance.naming.known.elsewhere import OtherRule
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.edited import Edited, fixed, started, traced
from optimetry.conformance.naming.search.fed import Runs, fed_in
from optimetry.conformance.naming.search.nearby import Edits, Nearby
from optimetry.conformance.naming.search.rivals import same
from optimetry.conformance.naming.search.stages import by_stages
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named

MOST_EDITS = 4
"""In how many places a known formula is edited: in more than two, by stages."""

MOST_FOUND = 4
"""How many formulas are found at most that explain a target equally."""


def edited_formulas(
    starts: Iterable[PointClass],
    runs: Runs,
    holds: Callable[[Explanation], bool],
    budget: Budget | None = None,
    most_edits: int = MOST_EDITS,
    telling: Sequence[Case] = (),
    neutral: Iterable[Runs] = (),
    counts: Sequence[StepCount] = (),
    held: tuple[str, ...] = (),
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
        neutral: what the target gave in the telling cases with hyperparameters at 0, for more than two edits.
        counts: what t may count beside the parameter's own updates.
        held: as for `Edited`.
    """
    budget = budget or Budget()
    if sum(np.count_nonzero(np.isfinite(x)) for _, x in runs) < FINITE * sum(x.size for _, x in runs):
        return []  # nothing that a finite bound could explain
    known, cases = list(starts), [*(case for case, _ in runs), *telling]
    unedited = [Edited(start, (), runs[0][0].hyper, held=held) for start in known]
    passes = _passes(runs)
    coarse, ways = passes[0]
    holding_in = partial(_holding, runs=runs, holds=holds, counts=counts)
    explaining = list(holding_in(unedited, ways))
    if explaining:  # what such a formula leaves open, such as NaN, is no matter of edits
        return explaining if all(isinstance(formula.start.dialect, OtherRule) for formula in explaining) else []

    def proven(classes: Iterable[list[Edited]], ways: Sequence[Arithmetic]) -> list[Edited]:
        proved: list[Edited] = []
        for member in sorted(chain.from_iterable(classes), key=lambda formula: formula.size):
            if len(proved) < MOST_FOUND and not any(same(member, other, cases) for other in proved):
                holding = list(islice(holding_in([member], ways), 1))
                # A guard may only decide what 0/0 is, or that a number is not 0, which any small number does.
                if holding and not any(holding_in(_siblings(member), ways)):
                    proved += holding
        return proved

    for count, together in (1, known[:1]), (1, known[1:]), (2, known[:1]), (2, known[1:2]):
        budget.edits = count
        for rough, arithmetics in (passes if count == 1 else passes[:1]) if count <= most_edits else ():
            near = chain.from_iterable(nearest(start, runs, count, budget, rough, held=held) for start in together)
            edited = proven(near, arithmetics)
            if edited:
                return edited
    for classes in _staged(known[0], runs, neutral, budget, coarse, held) if most_edits > 2 else ():
        edited = proven(classes, ways)
        if edited:
            return edited
    return []


def _staged(
    start: PointClass,
    runs: Runs,
    neutral: Iterable[Runs],
    budget: Budget,
    coarse: float,
    held: tuple[str, ...],
) -> Iterator[list[list[Edited]]]:
    """Yield the classes of formulas with three edits or four, from one known formula."""
    budget.edits = 3
    hyper = runs[0][0].hyper
    program = traced(start, hyper, held)
    for widening in widenings(program) if program else ():
        yield nearest(start, runs, 2, budget, coarse, (widening,), held)

    def stage(part: Runs, count: int, prior: Edits) -> list[list[Edits]]:
        found = nearest(start, part, count, budget, coarse, prior, held)
        return [[formula.edits for formula in members] for members in found]

    for classes in by_stages(stage, runs, neutral, budget) if program else ():
        yield [[Edited(start, edits, hyper, held=held) for edits in members] for members in classes]


def _siblings(formula: Edited) -> Iterator[Edited]:
    """Yield a formula with each other small number in the place of one that it adds beside another edit, or twice."""
    edits = formula.edits
    for small in {x for edit in edits if len(edits) > 1 or isinstance(edit, Rewritten) for x in edit.guards}:
        for other in (x for x in GUARDS if x != small):
            yield dataclasses.replace(formula, edits=tuple(edit.with_number(small, other) for edit in edits))


def _passes(runs: Runs) -> list[tuple[float, list[Arithmetic]]]:
    """Return how near formulas must be to be judged at all, as a roundoff, and how these may be computed.

    Beside float64 parameters numbers may be held in float32, which is as far from a formula as float32 is.
    """
    case = runs[0][0]
    ways = ways_of(case.optimizer)
    passes = [(case.form.roundoff, ways)]
    if case.dtype == "float64":
        numbers = subject_named(case.optimizer).numbers
        sharp = [Arithmetic(float32=chosen) for chosen in sets_of_numbers(numbers)]
        partly = [dataclasses.replace(way, float32_in_some_uses=numbers) for way in ways]
        passes.append((FORMATS["float32"].roundoff, [*sharp, *partly]))
    return passes


def _holding(
    members: Iterable[Edited],
    ways: Sequence[Arithmetic],
    *,
    runs: Runs,
    holds: Callable[[Explanation], bool],
    counts: Sequence[StepCount],
) -> Iterator[Edited]:
    """Yield the formulas that hold, each computed in the first way in which it does.

    The runs have every gradient, so that all ways of counting steps are the same there; each is tried on the rest.
    """
    for formula in members:
        for way in ways:
            if explains_most(Explanation(formula.formula, way), runs):
                computed = dataclasses.replace(formula, arithmetic=way)
                counted = (dataclasses.replace(computed, step_count=count) for count in counts if computed.counts_steps)
                explaining = next((x for x in chain([computed], counted) if holds(x.explanation)), None)
                if explaining is not None:
                    yield explaining
                    break


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


def nearest(
    start: PointClass,
    runs: Runs,
    count: int,
    budget: Budget,
    coarse: float,
    prior: Edits = (),
    held: tuple[str, ...] = (),
) -> list[list[Edited]]:
    """Return the classes of formulas with so many edits that are nearest to a target, each with its simplest members.

    The members of a class give the same in these runs, and perhaps not in others.

    Args:
        start: the known formula.
        runs: what the target gave.
        count: in how many places the formula is edited.
        budget: what the search may cost.
        coarse: the roundoff of the least precise numbers that the target may hold.
        prior: edits that are made beforehand, and not counted.
        held: as for `Edited`.
    """
    hyper = runs[0][0].hyper
    rule = started(start, hyper)
    program = traced(start, hyper, held) if budget.wanted() else None
    if program is None:
        return []
    program = with_edits(program, prior)
    numbers = [x.name for x in rule.hyperparameters() if x.kind is float and x.name not in fixed(start, held)]
    fed = fed_in(runs, coarse, partial(started, start))
    classes: list[list[Edits]] = []
    widened = [((widening,), count - 1) for widening in widenings(program)] if count else []
    for beforehand, fewer in [((), count), *widened]:
        edits = (*prior, *beforehand)
        search = Nearby(
            with_edits(program, beforehand), numbers, fed, budget, partial(_named, start, edits, hyper, held)
        )
        with np.errstate(all="ignore"), _without_collector():
            classes += [[(*edits, *more) for more in members] for members in search.at(fewer)]
    return [[Edited(start, edits, hyper, held=held) for edits in members] for members in classes]


def _named(start: PointClass, prior: Edits, hyper: Mapping[str, Any], held: tuple[str, ...], more: Edits) -> str:
    return Edited(start, (*prior, *more), hyper, held=held).name
