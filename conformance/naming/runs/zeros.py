"""Lists what may be taken for a number that is 0, as by ``lr or 1e-3``; cases that are not drawn show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import EPSILON_NAMES
from optimetry.conformance.naming.edits import usual
from optimetry.conformance.naming.mistakes import Hyper, Mistake, with_rates
from optimetry.conformance.naming.runs.gradients import taken
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.rare import may_be_zero, rare_cases
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults
from optimetry.conformance.subjects.subject import Subject


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be taken for a learning rate of 0, or for another number of 0."""
    if not isinstance(subject, RuleSubject):
        return
    hyper, rate = documented_defaults(subject)
    for value in dict.fromkeys((rate, *usual.RATES)):
        yield Mistake(run=taken(f"{value:g}", "a learning rate of 0"), fed=_rates(value), shown_by=_rare)
    spacing = float(np.spacing(FORMATS[dtype].dtype.type(1)))
    spacings = [times * spacing for times in usual.SPACINGS_FOR_ZERO]
    for name in [number.name for number in may_be_zero(subject)]:
        libraries = [*usual.EPSILONS_FOR_ZERO, *spacings] if name in EPSILON_NAMES else []
        for value in dict.fromkeys((hyper[name], *libraries)):
            if value:
                yield Mistake(run=taken(f"{value:g}", f"{name} = 0"), hyper=_in_place(name, value), shown_by=_rare)


def _rates(value: float) -> Callable[[Case], Case]:
    return with_rates(lambda rates: tuple(rate or value for rate in rates))


def _in_place(name: str, value: float) -> Callable[[Hyper], Hyper]:
    return lambda hyper: {} if hyper[name] else {name: value}


def _rare(case: Case) -> Iterator[Case]:
    yield from rare_cases(subject_of(case), case.dtype)
