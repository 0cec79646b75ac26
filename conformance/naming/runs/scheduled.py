"""Declares schedules that an optimizer may multiply the learning rate by, unasked; each has a number to solve for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration
from optimetry.conformance.naming.mistakes import Mistake, with_rates
from optimetry.conformance.naming.runs.skipped import PERIODS
from optimetry.reference.rule import Rule, State


class Schedule(NamedTuple):
    """A factor of the learning rate that depends on the number of the update.

    Attributes:
        words: the factor, with braces for the number; updates are counted by ``t``, from 1.
        factor: returns it, from the number and ``t``.
        start: a number to begin with.
        steps: whether the words have a number of steps, which is one divided by the number of the factor.
    """

    words: str
    factor: Callable[[Any, int], float]
    start: float
    steps: bool = False

    def named(self, number: float) -> str:
        """Return the words with a number."""
        return self.words.format(f"{1 / number if self.steps and number else number:g}")


def _cosine(part: Any) -> Any:
    """Return the factor of a cosine schedule of which a part is over."""
    return (1.0 + np.cos(np.pi * np.minimum(1.0, part))) / 2.0


def _stepped(period: int, late: int, x: Any, t: int) -> Any:
    return x ** ((t - late) // period)


SCHEDULES = (
    Schedule("min(1, t/{})", lambda x, t: min(1.0, x * t), 1.0, steps=True),
    Schedule("min(1, (t - 1)/{})", lambda x, t: min(1.0, x * (t - 1)), 1.0, steps=True),
    Schedule("t**-{}", lambda x, t: t**-x, 0.0),
    Schedule("{}**(t - 1)", lambda x, t: x ** (t - 1), 1.0),
    Schedule("{}**t", lambda x, t: x**t, 1.0),
    Schedule("1/(1 + {}*(t - 1))", lambda x, t: 1.0 / (1.0 + x * (t - 1)), 0.0),
    Schedule("1/(1 + {}*t)", lambda x, t: 1.0 / (1.0 + x * t), 0.0),
    Schedule("max(0, 1 - (t - 1)/{})", lambda x, t: max(0.0, 1.0 - x * (t - 1)), 0.0, steps=True),
    Schedule("max(0, 1 - t/{})", lambda x, t: max(0.0, 1.0 - x * t), 0.0, steps=True),
    Schedule("(1 + cos(pi*min(1, (t - 1)/{})))/2", lambda x, t: _cosine(x * (t - 1)), 1.0, steps=True),
    Schedule("(1 + cos(pi*min(1, t/{})))/2", lambda x, t: _cosine(x * t), 1.0, steps=True),
)
"""Warm-ups, powers of the count, and decays: exponential, with time, linear, by a cosine; at once or a step late."""

STEPPED = tuple(
    Schedule(f"{{}}**floor({count}/{period})", partial(_stepped, period, late), 1.0)
    for late, count in enumerate(("t", "(t - 1)"))
    for period in PERIODS
)
"""Decays by a factor every few updates, which the first two do not show."""

CONSTANT = Schedule("{}", lambda x, t: x, 1.0)
"""A factor that is always the same."""


def from_part(part: float) -> Schedule:
    """Return a warm-up that begins with a part of the learning rate."""
    return Schedule(
        f"{part:g} + {1 - part:g}*min(1, (t - 1)/{{}})",
        lambda x, t: part + (1 - part) * min(1.0, x * (t - 1)),
        1.0,
        steps=True,
    )


def in_pieces(factors: Mapping[int, float]) -> Schedule:
    """Return a schedule of constant factors, each from an update on; the first from 1."""
    *earlier, last = factors.values()
    pieces = zip(earlier, list(factors)[1:], strict=True)
    words = ", ".join(f"{factor:g} while t < {until}" for factor, until in pieces)
    return Schedule(f"{words}, then {last:g}", lambda x, t: factors[max(n for n in factors if n <= t)], 0.0)


def scheduled(schedule: Schedule, number: float, *, every_step: bool) -> Mistake:
    """Return the mistake of a schedule, which counts the updates of each parameter or ``every_step``."""
    words = schedule.named(number)

    def factor(t: int) -> float:
        return float(schedule.factor(np.float64(number), t))

    if every_step:
        return Mistake(
            run={"finding": "scheduled", "factor": f"{words}, where t counts every step"},
            fed=with_rates(lambda rates: tuple(rate * factor(t) for t, rate in enumerate(rates, 1))),
            breaks=(resuming, missing_gradient),
        )
    return Mistake(run={"finding": "scheduled", "factor": words}, alteration=Alteration(update=partial(_times, factor)))


def _times(
    factor: Callable[[int], float], rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State]:
    """Do the update with the learning rate times a factor."""
    return rule.update(param, grad, state, lr * factor(t), t)
