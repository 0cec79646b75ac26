"""Reads off by what a target multiplies the learning rate in each step of a calm run, in which nothing else shows.

From parameters of 0, by a tiny learning rate, the steps of a rule are those of the target, times a factor each. A
formula that gives these factors is a lead; every case decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.scheduled import (
    CONSTANT,
    LONGER,
    SCHEDULES,
    STEPPED,
    Schedule,
    WarmUp,
    behind,
    from_part,
    in_pieces,
    scheduled,
)
from optimetry.conformance.naming.solved import ANY, PARTS, root, short_number
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import Array

PIECES = 4
"""The most constant pieces that a schedule is taken to have."""

UNCERTAIN = 0.1
"""How far off a factor may be that still tells something."""

ENOUGH = 3
"""How many factors of 1 show that there is no schedule, and how many must be behind a warm-up."""


@np.errstate(all="ignore")
def factors(rule: Expected, after: Array) -> Expected:
    """Return the factor of each step of a rule with which a target does the same, shape (steps,).

    Args:
        rule: what the rule gives from parameters of 0.
        after: what the target gave, of the same shape.
    """
    steps = np.diff(rule.value, axis=0, prepend=0)
    own = np.diff(after.astype(rule.value.dtype), axis=0, prepend=0) / steps
    error = (rule.bound + np.vstack([0 * rule.bound[:1], rule.bound[:-1]])) * np.maximum(abs(own), 1) / abs(steps)
    sharpest = np.argmin(np.where(np.isfinite(error), error, np.inf), axis=1)[:, None]
    taken, bound = (np.take_along_axis(each, sharpest, axis=1)[:, 0] for each in (own, error))
    return Expected(taken.astype(float), bound.astype(float), np.zeros(()))


def schedules(measured: Expected) -> Iterator[tuple[Mistake, ...]]:
    """Yield the schedules that give these factors, each with both ways to count; an empty one where the first are 1.

    Something else may change the later ones, such as a pull back every five steps.
    """
    of_one = _is_near(np.ones_like(measured.value), measured)
    if of_one[:ENOUGH].all():
        yield ()
    if of_one.all() or not np.all(measured.bound <= UNCERTAIN):
        return
    for schedule, number in _candidates(measured):
        if np.all(_is_near(_given(schedule, number, measured).value, measured)):
            yield tuple(scheduled(schedule, number, every_step=every_step) for every_step in (False, True))


def _candidates(measured: Expected) -> Iterator[tuple[Schedule, float]]:
    """Yield schedules, each with the number that the factors show."""
    given = zip(measured.value, measured.bound, strict=True)
    short = [short_number(*each, other_than=np.nan, parts=True) for each in given]
    known = [factor for factor in short if factor is not None]
    parts = [from_part(first) for first in short[:1] if first is not None and first not in (0, 1)]
    warmed_up = chain.from_iterable(map(behind, _warm_ups(short)))
    for schedule in (CONSTANT, *SCHEDULES, *STEPPED, *parts, *LONGER, *warmed_up):
        number = _number(schedule, measured)
        if number is not None and number in ANY:
            yield schedule, number
    pieces = {t: now for t, (before, now) in enumerate(pairwise([np.nan, *known]), 1) if now != before}
    if len(known) == len(short) and 1 < len(pieces) <= PIECES:
        yield in_pieces(pieces), 0.0


def _warm_ups(factors: Sequence[float | None]) -> Iterator[WarmUp]:
    """Yield the warm-ups that factors may begin with; some must be left behind it."""
    for late, first in enumerate(factors[:2]):
        steps = round(1 / first) if first else 0
        if 1 < steps <= len(factors) - late - ENOUGH and first == 1 / steps:
            yield WarmUp(steps, late)


def _is_near(given: Array, measured: Expected) -> Array:
    """Return where factors are those that were measured, as far as these are known; they must be."""
    near: Array = (abs(given - measured.value) <= measured.bound) & (measured.bound <= UNCERTAIN)
    return near


def _given(schedule: Schedule, number: float, measured: Expected) -> Expected:
    """Return the factors of a schedule with a number, as exactly as they were measured."""
    count = len(measured.value)
    given = np.array([float(schedule.factor(np.float64(number), t)) for t in range(1, count + 1)])
    return replace(measured, value=given)


@np.errstate(all="ignore")
def _number(schedule: Schedule, measured: Expected) -> float | None:
    """Return the number of a schedule that the factors show: the nearest number of steps, or what a secant leads to."""
    if schedule.steps:
        parts = 1 / np.arange(2, PARTS + 1)
        given = np.array([schedule.factor(parts, t) + 0 * parts for t in range(1, len(measured.value) + 1)])
        off = abs(given - measured.value[:, None]) / measured.bound[:, None]
        return float(parts[np.argmin(off.max(axis=0))])

    def evaluate(number: float) -> Expected:
        return _given(schedule, number, measured)

    near = root(evaluate, schedule.start, measured.value)
    near = near and (root(evaluate, near[0], measured.value) or near)
    return near and short_number(*near, other_than=schedule.start)
