"""Lists what may be taken for a number that is 0, as by ``lr or 1e-3``, and makes the cases that show it.

Drawn cases have no learning rate of 0, with which a warm-up begins, and no epsilon of 0, which documents allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.cases.strategies import EPSILONS
from optimetry.conformance.naming.mistakes import Hyper, Mistake, with_rates
from optimetry.conformance.naming.runs.gradients import taken
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults
from optimetry.conformance.subjects.subject import Subject

RATES = (0.001, 0.01, 0.1, 1.0)
"""The usual defaults of learning rates, beside the documented one."""

GUARDS = (1e-8, 1e-6, 1e-7, 1e-10, 1e-12)
"""The usual defaults of epsilons."""

STEPS = 4
SHAPE = (3, 4)


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be taken for a learning rate of 0, or for an epsilon of 0."""
    if not isinstance(subject, RuleSubject):
        return
    hyper, rate = documented_defaults(subject)
    for value in dict.fromkeys((rate, *RATES)):
        yield Mistake(run=taken(f"{value:g}", "a learning rate of 0"), fed=_rates(value), shown_by=_at_zero)
    for name in _epsilons(subject):
        for value in dict.fromkeys((hyper[name], *GUARDS)):
            if value:
                yield Mistake(run=taken(f"{value:g}", f"{name} = 0"), hyper=_guard(name, value), shown_by=_at_zero)


def _epsilons(subject: Subject) -> list[str]:
    """Return the epsilons that may be 0."""
    numbers = [number for number in subject.hyperparameters() if number.name in EPSILONS]
    return [number.name for number in numbers if number.domain is not None and 0.0 in number.domain]


def _rates(value: float) -> Callable[[Case], Case]:
    return with_rates(lambda rates: tuple(rate or value for rate in rates))


def _guard(name: str, value: float) -> Callable[[Hyper], Hyper]:
    return lambda hyper: {} if hyper[name] else {name: value}


def _at_zero(case: Case) -> Iterator[Case]:
    yield from cases_at_zero(subject_of(case), case.dtype)


@cache
def cases_at_zero(subject: Subject, dtype: str) -> tuple[Case, ...]:
    """Return short cases of normally distributed numbers: one with rates of 0, and one with each epsilon at 0.

    A wrapper has no learning rate, and no such cases.
    """
    if not isinstance(subject, RuleSubject):
        return ()
    form, rng, shape = FORMATS[dtype], np.random.default_rng(0), fitting(subject, SHAPE)
    parameter, *grads = (rng.standard_normal(shape) for _ in range(1 + STEPS))
    hyper, rate = documented_defaults(subject)

    def case(rates: tuple[float, ...], scale: float = 1.0, **zero: Any) -> Case:
        fed = tuple(((scale * grad).astype(form.dtype),) for grad in grads)
        return Case(subject.name, dtype, {**hyper, **zero}, rates, (parameter.astype(form.dtype),), fed)

    rates = case((rate, 0.0) * (STEPS // 2))  # the first is the first size of a step in Rprop
    small = float(form.smallest_normal) ** 0.25  # beside which an epsilon shows, and whose square has all digits
    return (rates, *(case((rate,) * STEPS, small, **{name: 0.0}) for name in _epsilons(subject)))
