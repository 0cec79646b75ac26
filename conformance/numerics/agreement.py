"""How far a trajectory is from what a rule has, in shares of the bound and in units in the last place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import Format

SLACK = 2.0
"""The largest share of the bound that conforms: 1 is for the rule's own order of operations, 2 for regrouped ones."""

LARGEST_SHARE = float(np.finfo(np.float64).max)
"""What stands for an infinite share: any difference where the bound is zero, or a NaN where the rule is finite."""


LARGEST_ULP = 1e15
"""What stands for a difference that has no number of units: one from a NaN, or a larger one."""


@dataclass(frozen=True)
class Expected:
    """The parameters after every step, as the rule has them.

    Attributes:
        value: wide values, shape (steps, elements); the elements are those of all parameters, one after the other.
        bound: how far a working-precision evaluation may be from them, same shape; not finite where nothing is known.
        start: the magnitude of the parameters before the first step, float64, shape (elements,).
    """

    value: Any
    bound: Any
    start: Any


@dataclass(frozen=True)
class Agreement:
    """A comparison of one or more trajectories with one rule.

    Attributes:
        share: the largest of ``|target - value| / bound`` over all elements whose bound is finite.
        ulp: the largest difference among them in units in the last place of the largest magnitude that the element
            has had so far, rounded up: what is lost by cancellation near zero does not count.
        vacuous: the number of elements whose bound is not finite: nothing can be said of them.
        elements: the number of elements of all steps.
        worst: the step and the flat element of the largest share, None when there is none.
    """

    share: float = 0.0
    ulp: int = 0
    vacuous: int = 0
    elements: int = 0
    worst: tuple[int, int] | None = None

    @property
    def conforms(self) -> bool:
        """Whether every element is within the slack."""
        return self.share <= SLACK

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            share=max(self.share, other.share),
            ulp=max(self.ulp, other.ulp),
            vacuous=self.vacuous + other.vacuous,
            elements=self.elements + other.elements,
            worst=self.worst if self.share >= other.share else other.worst,
        )


def compare(after: Array, oracle: Expected, form: Format) -> Agreement:
    """Compare a trajectory, shape (steps, elements), with what a rule has."""
    known = np.isfinite(oracle.bound) & np.isfinite(oracle.value)
    elements, vacuous = known.size, known.size - int(np.count_nonzero(known))
    if elements == vacuous:
        return Agreement(vacuous=vacuous, elements=elements)
    shares = shares_of(after, oracle, known)
    worst = np.unravel_index(int(np.argmax(shares)), shares.shape)
    return Agreement(
        share=float(shares[worst]),
        ulp=int(np.ceil(np.max(ulps_of(after, oracle, form), where=known, initial=0.0))),
        vacuous=vacuous,
        elements=elements,
        worst=(int(worst[0]), int(worst[1])),
    )


def explains(after: Array, oracle: Expected, form: Format) -> bool:
    """Whether a trajectory may be one of a rule: within the slack, and NaN where the rule itself is."""
    undefined = np.isnan(oracle.value)
    return compare(after, oracle, form).conforms and bool(np.isnan(after)[undefined].all())


def shares_of(after: Array, oracle: Expected, known: Any) -> Any:
    """The share of the bound that each element's difference takes, 0 where nothing is known, as float64."""
    with np.errstate(all="ignore"):
        distance = np.abs(after.astype(oracle.value.dtype) - oracle.value)
        share = np.where(distance == 0, 0.0, (distance / oracle.bound).astype(np.float64))
    return np.where(known, np.nan_to_num(share, nan=LARGEST_SHARE, posinf=LARGEST_SHARE), 0.0)


def ulps_of(after: Array, oracle: Expected, form: Format) -> Any:
    """Each element's difference in units in the last place of its largest magnitude so far, as float64."""
    with np.errstate(all="ignore"):
        value = oracle.value.astype(np.float64)
        distance = np.abs(after.astype(oracle.value.dtype) - oracle.value).astype(np.float64)
        largest = np.maximum(np.maximum.accumulate(np.abs(value), axis=0), oracle.start)
        places = np.where(largest > 0, np.ldexp(2 * form.roundoff, np.frexp(largest)[1] - 1), 0.0)
        unit = np.maximum(places, form.tiny)
        return np.nan_to_num(distance / unit, nan=LARGEST_ULP, posinf=LARGEST_ULP).clip(max=LARGEST_ULP)
