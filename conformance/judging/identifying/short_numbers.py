"""Makes cases whose numbers float32 holds exactly, so that rounding them hides no small difference of another kind."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case, met_before
from optimetry.conformance.cases.offered import UNLIMITED, Limits
from optimetry.conformance.oracle.expected import decays_of
from optimetry.conformance.subjects.registry import subject_of

BITS = 8
"""The bits of a short number: float32 then also holds its third power and, of a decay, 1 minus it."""


@lru_cache(maxsize=1024)
def with_short_numbers(case: Case, limits: Limits = UNLIMITED) -> Case:
    """Round the numbers of a case to few bits, so that float32 holds them and their short products exactly.

    Returns:
        A case that is within the limits, the same for each candidate; the case itself where nothing is rounded.
    """
    subject = subject_of(case)
    domains = {declared.name: declared.domain for declared in subject.hyperparameters() if declared.kind is float}
    decays = decays_of(subject)

    def short(name: str, number: Any) -> Any:
        if name in decays:  # a multiple of 2^-8, as is 1 minus it
            return min(max(round(number * 2**BITS), 1), 2**BITS - 1) / 2**BITS if number else number
        domain, near = domains.get(name), _short(number) if isinstance(number, float) else number
        return number if domain is not None and near not in domain else near

    hyper = {name: short(name, value) for name, value in case.hyper.items()}
    rounded = case.replace(hyper=hyper, learning_rates=tuple(map(_short, case.learning_rates)))
    return case if rounded.content == case.content else met_before(limits.offered(rounded))


def _short(number: float) -> float:
    fraction, exponent = np.frexp(number)
    with np.errstate(over="ignore"):
        near = float(np.ldexp(np.rint(fraction * 2**BITS), exponent - BITS))
    return near if np.isfinite(near) else number
