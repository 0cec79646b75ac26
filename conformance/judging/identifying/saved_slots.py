"""Looks at the slots that a target saves: which format holds their numbers."""

from __future__ import annotations

from itertools import islice

import numpy as np

from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.laws.resumed import saved
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS, narrowest
from optimetry.conformance.targets.session import watched

ENOUGH = 4
"""The cases behind which slots are looked at."""


def format_of_slots(observed: Observed) -> str | None:
    """Return the narrowest format that holds all slots in several cases; None where none does, or nothing is saved."""
    numbers = np.concatenate([np.zeros(0), *_numbers_of_slots(observed).values()])
    return narrowest(numbers) if numbers.any() else None


def saves_in(observed: Observed, slots: int, name: str) -> bool:
    """Whether a target saves so many slots whose numbers a format holds; 0 in every case tells nothing of a slot."""
    numbers = [each for each in _numbers_of_slots(observed).values() if each.any()]
    return slots == sum(map(FORMATS[name].holds, numbers))


def _numbers_of_slots(observed: Observed) -> dict[str, Array]:
    """Return the finite numbers of each slot that has the shapes of the parameters, behind several cases."""
    held: dict[str, list[Array]] = {}
    for case in islice(observed.offered(observed.cases()), ENOUGH):
        with watched(observed.guard):
            begun = saved(Trial(observed.target, case, observed.guard), len(case.grads))
        shapes = [param.shape for param in case.parameters]
        for slot, arrays in (begun.state if begun else {}).items():
            if [x.shape for x in arrays] == shapes:
                numbers = [x.astype(case.form.dtype).reshape(-1) for x in arrays if x.dtype.name in FORMATS]
                held.setdefault(slot, []).extend(x[np.isfinite(x)] for x in numbers)
    return {slot: np.concatenate(numbers) for slot, numbers in held.items() if numbers}
