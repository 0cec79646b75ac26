"""Compares a trajectory with its expected value, as an error ratio and in units in the last place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import Format
from optimetry.conformance.numerics.magnitudes import magnitude_of
from optimetry.reports import numbers

SLACK, LARGEST_SHARE = numbers.SLACK, numbers.LARGEST_SHARE  # defined for whoever reads results, too

LARGEST_ULP = 1e15
"""Stands for a larger difference, or for one from a NaN, which has no number of units."""


@dataclass(frozen=True)
class Expected:
    """The expected value of a trajectory, with its rounding bound.

    Attributes:
        value: the parameters after every step in wide precision, concatenated, shape (steps, elements).
        bound: how far a working-precision evaluation may be from them, float64 of that shape; not finite where nothing
            is known.
        start: the magnitude of the parameters before the first step, float64, shape (elements,).
    """

    value: Any
    bound: Any
    start: Any

    @cached_property
    def known(self) -> Any:
        """Where the expected value and its bound are finite, so that something can be said."""
        return np.isfinite(self.bound) & np.isfinite(self.value)

    def steps(self, first: int, behind: int) -> Expected:
        """Return the expected value of some steps alone; an evaluation step by step goes no further than these."""
        return Expected(self.value[first:behind], self.bound[first:behind], self.start)


@dataclass(frozen=True)
class Agreement:
    """A comparison of one or more trajectories with one formula.

    Attributes:
        share: the error ratio: the largest ``|target - value| / bound`` over all elements whose bound is finite.
        ulp: the largest difference among them in units in the last place of the largest magnitude that the element
            has had so far, rounded up, so that cancellation near zero does not inflate it.
        vacuous: the number of elements whose bound is not finite: nothing can be said of them.
        elements: the number of elements of all steps.
        worst: the step and the flat element of the largest error ratio, None when there is none.
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

    @property
    def judged(self) -> float:
        """The part of all elements of which something can be said, 0 where there are none."""
        return 1 - self.vacuous / self.elements if self.elements else 0.0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            share=max(self.share, other.share),
            ulp=max(self.ulp, other.ulp),
            vacuous=self.vacuous + other.vacuous,
            elements=self.elements + other.elements,
            worst=self.worst if self.share >= other.share else other.worst,
        )


def compare(after: Array, oracle: Expected, form: Format) -> Agreement:
    """Compare a trajectory, shape (steps, elements), with its expected value."""
    known = oracle.known
    elements, vacuous = known.size, known.size - int(np.count_nonzero(known))
    if elements == vacuous:
        return Agreement(vacuous=vacuous, elements=elements)
    shares = shares_of(after, oracle)
    worst = np.unravel_index(int(np.argmax(shares)), shares.shape)
    return Agreement(
        share=float(shares[worst]),
        ulp=int(np.ceil(np.max(ulps_of(after, oracle, form), where=known, initial=0.0))),
        vacuous=vacuous,
        elements=elements,
        worst=(int(worst[0]), int(worst[1])),
    )


def explained(after: Array, oracle: Expected, form: Format) -> Agreement | None:
    """Compare a trajectory with a formula that explains it: within the slack, and no number where the formula has none.

    None where the formula does not explain it. Where the expected value is NaN, an infinity will do: of a sum that has
    overflowed, the order of its operations decides which of the two it is.
    """
    if _begins_otherwise(after, oracle):
        return None
    agreement = compare(after, oracle, form)
    return agreement if agreement.conforms and not has_number_for_nan(after, oracle) else None


def has_number_for_nan(after: Array, oracle: Expected) -> bool:
    """Whether a trajectory has a number where the expected value is NaN."""
    return bool(np.isfinite(after)[np.isnan(oracle.value)].any())


def contradicted(after: Array, oracle: Expected) -> Any:
    """Mark the first step in which each element is beyond the slack of a formula; shape (steps, elements)."""
    beyond = shares_of(after, oracle) > SLACK
    return beyond & (np.cumsum(beyond, axis=0) == 1)


def answered(after: Array, oracle: Expected, where: Any) -> int:
    """Count the elements in ``where`` whose value a formula determines: within a bound, infinite, or NaN."""
    same = after.astype(oracle.value.dtype) == oracle.value
    return int(np.count_nonzero((oracle.known | same | np.isnan(oracle.value)) & where))


def has_lost(after: Array, where: Any) -> bool:
    """Whether a trajectory has NaN or an infinity among the elements in ``where``."""
    return not np.isfinite(after[where]).all()


def _stretches(steps: int) -> Iterator[tuple[int, int]]:
    """Yield where stretches of steps begin and end, each as long as all before it: later ones may not be needed."""
    first, behind = 0, 1
    while first < steps:
        yield first, behind
        first, behind = behind, 2 * behind


def _begins_otherwise(after: Array, oracle: Expected) -> bool:
    """Whether steps before the last stretch show that a formula does not explain a run: of most wrong ones they do."""
    for first, behind in _stretches(len(after)):
        if behind >= len(after):
            break  # `compare` looks at all
        part, rows = oracle.steps(first, behind), after[first:behind]
        if np.any(shares_of(rows, part) > SLACK) or has_number_for_nan(rows, part):
            return True
    return False


def first_beyond(after: Array, oracle: Expected) -> int | None:
    """Return the first step with an element beyond the slack, None where there is none; few behind it are evaluated."""
    for first, behind in _stretches(len(after)):
        beyond = shares_of(after[first:behind], oracle.steps(first, behind)) > SLACK
        if beyond.any():
            return first + int(np.argmax(beyond.any(axis=1)))
    return None


def explains(after: Array, oracle: Expected, form: Format) -> bool:
    """Check whether a formula explains a trajectory; see `explained`."""
    return explained(after, oracle, form) is not None


def shares_of(after: Array, oracle: Expected) -> Any:
    """Return each element's error ratio as float64, 0 where nothing is known."""
    with np.errstate(all="ignore"):
        distance = magnitude_of(after.astype(oracle.value.dtype) - oracle.value)
        share = np.where(distance == 0, 0.0, distance / oracle.bound)
        largest = np.where(share <= LARGEST_SHARE, share, LARGEST_SHARE)  # of a NaN, too
    return np.where(oracle.known, largest, 0.0)


def ulps_of(after: Array, oracle: Expected, form: Format) -> Any:
    """Return each element's difference in units in the last place of its largest magnitude so far, as float64."""
    with np.errstate(all="ignore"):
        value = oracle.value.astype(np.float64)
        distance = np.abs(after.astype(oracle.value.dtype) - oracle.value).astype(np.float64)
        largest = np.maximum(np.maximum.accumulate(np.abs(value), axis=0), oracle.start)
        ulps = distance / unit_of(largest, form)
        return np.nan_to_num(ulps, nan=LARGEST_ULP, posinf=LARGEST_ULP).clip(max=LARGEST_ULP)


def unit_of(magnitude: Any, form: Format) -> Any:
    """Return the unit in the last place of numbers of these magnitudes, float64."""
    places = np.where(magnitude > 0, np.ldexp(2 * form.roundoff, np.frexp(magnitude)[1] - 1), 0.0)
    return np.maximum(places, form.tiny)
