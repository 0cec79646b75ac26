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


class WarmUp(NamedTuple):
    """A learning rate that grows with the number of the update to its whole, before a schedule begins.

    Attributes:
        steps: over how many updates.
        late: by how many it begins late; by one, the first rate is 0.
    """

    steps: int
    late: int


class Schedule(NamedTuple):
    """A factor of the learning rate that depends on the number of the update.

    Attributes:
        words: the factor, with ``{x}`` for the number and ``{n}`` for the update; updates are counted by ``t``, from 1.
        form: returns it, from the number and the update.
        start: a number to begin with.
        steps: whether the words have a number of steps, which is one divided by the number of the factor.
        late: by how many updates it begins late.
        least: the part of the learning rate that is not multiplied.
        warm_up: what is before it.
    """

    words: str
    form: Callable[[Any, Any], Any]
    start: float
    steps: bool = False
    late: int = 0
    least: float = 0.0
    warm_up: WarmUp | None = None

    def named(self, number: float) -> str:
        """Return the words with a number."""
        x = f"{1 / number if self.steps and number else number:g}"
        least = f"{self.least:g} + {1 - self.least:g}*" if self.least else ""
        words = least + self.words.format(n=_count(self.late), x=x)
        if self.warm_up is None:
            return words
        steps, late = self.warm_up
        return f"{_count(late)}/{steps} while t <= {steps + late}, then {words}"

    def factor(self, number: Any, t: int) -> Any:
        """Return the factor in an update, with a number, or with several."""
        if self.warm_up is not None and t <= sum(self.warm_up):
            return (t - self.warm_up.late) / self.warm_up.steps
        return self.least + (1 - self.least) * self.form(number, t - self.late)


def _count(late: int) -> str:
    """Return the words for the number of an update, counted from some update on."""
    return f"(t - {late})" if late else "t"


def _at_once_and_late(*schedules: Schedule) -> tuple[Schedule, ...]:
    """Return schedules that begin at once, each also a step late."""
    return tuple(schedule._replace(late=late) for schedule in schedules for late in (0, 1))


def _over(x: Any, n: Any) -> Any:
    """Return the part of some steps that is over, 1 behind them."""
    return np.minimum(1.0, x * n)


def _left(x: Any, n: Any) -> Any:
    """Return the part of some steps that is left, 0 behind them."""
    return np.maximum(0.0, 1.0 - x * n)


def _wave(part: Any) -> Any:
    """Return the height of a cosine of which a part is over: from 1 to 0, and up again."""
    return (1.0 + np.cos(np.pi * part)) / 2.0


CONSTANT = Schedule("{x}", lambda x, n: x, 1.0)
"""A factor that is always the same."""

GROWING = Schedule("min(1, {n}/{x})", _over, 1.0, steps=True)
"""A linear warm-up."""

POWER = Schedule("{n}**-{x}", lambda x, n: n**-x, 0.0)

ENDING = (
    Schedule("max(0, 1 - {n}/{x})", _left, 0.0, steps=True),
    Schedule("(1 + cos(pi*min(1, {n}/{x})))/2", lambda x, n: _wave(_over(x, n)), 1.0, steps=True),
)
"""Decays that end: linear, and by a cosine."""

WAVE = Schedule("(1 + cos(pi*{n}/{x}))/2", lambda x, n: _wave(x * n), 1.0, steps=True)
"""A cosine that goes up again."""

FALLING = (
    Schedule("{x}**{n}", lambda x, n: x**n, 1.0),
    Schedule("1/(1 + {x}*{n})", lambda x, n: 1.0 / (1.0 + x * n), 0.0),
    *ENDING,
)
"""These, and others that do not: exponential, and with time."""

SCHEDULES = (*_at_once_and_late(GROWING), POWER, *_at_once_and_late(*FALLING))
"""What two updates may show: warm-ups, powers of the count, and decays, at once or a step late."""

STEPPED = _at_once_and_late(
    *(
        Schedule(f"{{x}}**floor({{n}}/{period})", partial(lambda period, x, n: x ** (n // period), period), 1.0)
        for period in PERIODS
    )
)
"""Decays by a factor every few updates, which the first two do not show."""

LONGER = (
    Schedule("min({n}/{x}, ({n}/{x})**-0.5)", lambda x, n: np.minimum(x * n, (x * n) ** -0.5), 1.0, steps=True),
    Schedule("min({n}**-0.5, {n}*{x}**-1.5)", lambda x, n: np.minimum(n**-0.5, n * x**1.5), 1.0, steps=True),
    *_at_once_and_late(
        Schedule("max(0, 1 - {n}/{x})**2", lambda x, n: _left(x, n) ** 2, 0.0, steps=True),
        *(schedule._replace(least=least) for least in (0.001, 0.01, 0.1, 0.2, 0.5) for schedule in ENDING),
        WAVE,
    ),
)
"""Others that more updates show: a warm-up before an inverse square root, as of Transformers, and decays to a part."""


def from_part(part: float) -> Schedule:
    """Return a warm-up that begins with a part of the learning rate."""
    return GROWING._replace(late=1, least=part)


def behind(warm_up: WarmUp) -> tuple[Schedule, ...]:
    """Return schedules behind a warm-up, which count from the first update or from its end, perhaps a step late."""
    end = sum(warm_up)
    ending = (schedule._replace(least=least) for least in (0.0, 0.1) for schedule in ENDING)
    falling = [
        schedule._replace(late=late) for schedule in (*FALLING[:2], *ending, WAVE) for late in (end, end + 1, 0, 1)
    ]
    powers = [POWER._replace(late=late) for late in (end, 0)]
    return tuple(schedule._replace(warm_up=warm_up) for schedule in (*falling, *powers))


def in_pieces(factors: Mapping[int, float]) -> Schedule:
    """Return a schedule of constant factors, each from an update on; the first from 1."""
    *earlier, last = factors.values()
    pieces = zip(earlier, list(factors)[1:], strict=True)
    words = ", ".join(f"{factor:g} while t < {until}" for factor, until in pieces)
    return Schedule(f"{words}, then {last:g}", lambda x, n: factors[max(t for t in factors if t <= n)], 0.0)


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
