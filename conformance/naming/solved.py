"""Solves for a constant of an optimizer, by what it gave: for a hyperparameter, of a schedule, of a decay.

An optimizer whose decay is a constant of its own, or that divides the learning rate by a batch size, computes a known
rule with a number that no list has. One element of a short run says which: that is a lead, and every case decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.adapters import gradients_multiplied, held, multiplied
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistake, Mistaken, together
from optimetry.conformance.naming.runs.accumulated import CORRECTED, MEAN, SUM, averaged
from optimetry.conformance.naming.runs.decay import UNASKED, strengths, unasked
from optimetry.conformance.naming.runs.returned import BEGINNINGS, moving_average
from optimetry.conformance.naming.runs.scheduled import SCHEDULES, scheduled
from optimetry.conformance.numerics.agreement import Expected, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.declaration import Interval
from optimetry.reference.errors import HyperparameterError

ROUNDS = 24
"""The most secants that are drawn."""

VISIBLE = 64.0
"""How many bounds another value must move an element, so that two digits of it can be read off there; and what part of
its uncertainty the last secant may move a value, since the bound is mostly much wider than what is off."""

DIGITS, PARTS = 3, 1024
"""The most digits of a constant that somebody wrote down, and the most equal parts that a rate is divided into."""

NEAR_0 = 1 / 16
"""The second value that is tried where the first is 0."""

ANY = Interval("(0, inf)")

Evaluate = Callable[[float], Expected]


def solved(explanation: Explanation, case: Case, after: Array) -> Iterator[list[Mistaken]]:
    """Yield the rule with a constant in place of a number that a short run was given, in tiers, the simplest first.

    Args:
        explanation: a rule, and how it is computed.
        case: what the target was fed.
        after: what it gave, shape (steps, elements).
    """
    for tier in _unknowns(subject_named(explanation.rule.optimizer), case):
        solutions = ((unknown, unknown.solution(explanation, case, after)) for unknown in tier)
        yield [Mistaken(explanation, unknown.mistake(x)) for unknown, x in solutions if x is not None]


def decays(
    explanation: Explanation, schedule: Sequence[Mistake], case: Case, after: Array
) -> Iterator[tuple[Mistake, ...]]:
    """Yield the decays, unasked, that explain a run beside a rule and its schedule; none where nothing is needed.

    Args:
        explanation: a rule, and how it is computed.
        schedule: one at most.
        case: what the target was fed.
        after: what it gave, shape (steps, elements).
    """

    def explained(mistake: Mistake) -> bool:
        return explains(after, Mistaken(explanation, mistake).expected(case), case.form)

    able = not strengths(subject_named(explanation.rule.optimizer)) and not explained(together(schedule))
    found = False
    for how in UNASKED if able else ():
        unknown = _Unknown(partial(_scheduled_decay, how, schedule), 0.0, Interval("(0, 1)"))
        strength = unknown.solution(explanation, case, after)
        if strength is not None and explained(unknown.mistake(strength)):
            found = True
            yield (unasked(how, strength),)
    if not found:
        yield ()


def _scheduled_decay(how: str, schedule: Sequence[Mistake], strength: float) -> Mistake:
    return together([unasked(how, strength), *schedule])


class _Unknown(NamedTuple):
    """A constant that is solved for.

    Attributes:
        mistake: returns the mistake with a value of it.
        start: a value to begin with.
        domain: its values.
        parts: whether it may be one divided by an integer.
        steps: whether it is one divided by a number of steps.
    """

    mistake: Callable[[float], Mistake]
    start: float
    domain: Interval = ANY
    parts: bool = False
    steps: bool = False

    def solution(self, explanation: Explanation, case: Case, after: Array) -> float | None:
        """Return the value with which a rule gives in a short run what was given; None where there is none."""

        def evaluate(value: float) -> Expected:
            # A secant may lead to any number, of which NumPy makes infinities where Python raises errors.
            return Mistaken(explanation, self.mistake(np.float64(value))).expected(case)

        try:
            near = root(evaluate, self.start, after)
        except HyperparameterError:  # a secant leads out of the domain
            return None
        number = near and short_number(*near, other_than=self.start, parts=self.parts, steps=self.steps)
        return number if number is not None and number in self.domain else None


def _unknowns(subject: Subject, case: Case) -> Iterator[list[_Unknown]]:
    """Yield the constants that a target may have where a subject has none, or others.

    Those of a tier differ in what they do on some case. Of sgd, a decay is the same as part of the gradient and apart
    from it, and so is a factor of the gradient and of the learning rate: the simpler one is in an earlier tier.
    """
    numbers = (number for number in subject.hyperparameters() if number.kind is float and number.domain is not None)
    yield [
        *[_Unknown(multiplied, 1.0, parts=True)] * subject.has_learning_rate,
        *(_Unknown(partial(_held_at, x.name), float(case.hyper[x.name]), x.domain or ANY) for x in numbers),
    ]
    if subject.has_learning_rate:
        for every_step in (False, True):
            made = partial(scheduled, every_step=every_step)
            yield [_Unknown(partial(made, each), each.start, steps=each.steps) for each in SCHEDULES]
        yield [_Unknown(of_gradients, 1.0, parts=True) for of_gradients in (gradients_multiplied, _gradients_divided)]
        yield [_Unknown(partial(averaged, how), 0.0, Interval("(0, 1)")) for how in (SUM, MEAN, CORRECTED)]
        for own in (False, True):
            returned = (partial(moving_average, how, own=own) for how in BEGINNINGS)
            yield [_Unknown(average, 0.0, Interval("(0, 1)")) for average in returned]
        for how in UNASKED if not strengths(subject) else ():
            yield [_Unknown(partial(unasked, how), 0.0, Interval("(0, 1)"))]


def _held_at(name: str, value: float) -> Mistake:
    return held({name: value})


def _gradients_divided(divisor: float) -> Mistake:
    return gradients_multiplied(1 / divisor)  # secants reach other numbers from here


def short_number(
    near: float, error: float, *, other_than: float, parts: bool = False, steps: bool = False
) -> float | None:
    """Return the shortest number within an error of one, or perhaps one divided by an integer; None without any.

    Args:
        near: a number.
        error: how far off it may be.
        other_than: what the number is not.
        parts: whether it may be one divided by an integer, where it is nothing shorter.
        steps: whether it is most likely so, as one divided by a number of steps.
    """
    candidates = [float(f"{near:.{digits}e}") for digits in range(DIGITS)]
    if (parts or steps) and 1 / (PARTS + 0.5) < near < 2:
        candidates.insert(0 if steps else DIGITS, 1 / round(1 / near))
    return next((x for x in candidates if x != other_than and abs(x - near) <= error), None)


@np.errstate(all="ignore")
def root(evaluate: Evaluate, start: float, given: Array) -> tuple[float, float] | None:
    """Return the number for which the element that shows it most gives what was given, and its uncertainty."""
    x, other = start, start / 2 if start else NEAR_0
    before, now = evaluate(x), evaluate(other)
    moved = np.abs(now.value - before.value) / (now.bound + before.bound)
    moved = np.where(np.isfinite(moved) & np.isfinite(given), moved, 0)
    if not moved.size or moved.max() < VISIBLE:
        return None
    most = np.unravel_index(np.argmax(moved), moved.shape)
    wanted = given[most].astype(now.value.dtype)
    for _ in range(ROUNDS):
        slope = (now.value[most] - before.value[most]) / (other - x)
        if not np.isfinite(slope) or slope == 0:
            return None
        error = float(abs(now.bound[most] / slope))
        following = float(other + (wanted - now.value[most]) / slope)
        if abs(following - other) <= error / VISIBLE:
            return following, 2 * error
        x, other, before, now = other, following, now, evaluate(following)
    return None
