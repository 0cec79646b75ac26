"""Makes cases with a 0 in the place of a number that programs take for none: ``learning_rate or 1e-3``.

Drawn cases have no learning rate of 0, with which a warm-up begins, and no epsilon of 0, which documents allow.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.cases.strategies import EPSILONS
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults
from optimetry.conformance.subjects.subject import Subject

STEPS = 4
SHAPE = (3, 4)


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
    return (rates, *(case((rate,) * STEPS, small, **{name: 0.0}) for name in epsilons_at_zero(subject)))


def epsilons_at_zero(subject: Subject) -> list[str]:
    """Return the epsilons that may be 0."""
    numbers = [number for number in subject.hyperparameters() if number.name in EPSILONS]
    return [number.name for number in numbers if number.domain is not None and 0.0 in number.domain]
