"""Bounds sums of what comes one after the other, whatever order an implementation adds it up in.

A mean over the last updates may be kept as a running sum, or as a list that is added up pairwise, or from the newest
on. Bounded addition by addition, a sum is as exact as its own partial sums are small, and those of another order may be
far larger.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from optimetry.conformance.numerics.bounded import Bounded, not_zero
from optimetry.conformance.numerics.formats import BOUND, Bound
from optimetry.conformance.numerics.reductions import in_any_order


class Summand(Bounded):
    """A number that is added up in any order; what is computed otherwise of it is an ordinary `Bounded`.

    Attributes:
        terms: of how many numbers each element is the sum; exact zeros add nothing, and are not counted.
        inexact: the sums of their bounds.
        largest: the sums of their largest magnitudes, which no partial sum exceeds.
    """

    __slots__ = ("inexact", "largest", "terms")

    terms: Any
    inexact: Bound
    largest: Bound

    @classmethod
    def of(cls, number: Bounded) -> Self:
        """Make a sum of one number."""
        return cls._sum(number, not_zero(number).astype(BOUND), number.bound, number.magnitude + number.bound)

    @classmethod
    def _sum(cls, number: Bounded, terms: Any, inexact: Bound, largest: Bound) -> Self:
        made = cls(number.value, number.bound, number.form, number.nonnegative, magnitude=number.magnitude)
        made.terms, made.inexact, made.largest = terms, inexact, largest
        return made

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.add and method == "__call__" and not kwargs and all(map(_is_summand, inputs)):
            first, second = (x if isinstance(x, Summand) else Summand.of(x) for x in inputs)
            return first._with(second)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def _with(self, other: Summand) -> Summand:
        """Return the sum of the terms of both."""
        value, nonnegative = self.value + other.value, self.nonnegative and other.nonnegative
        terms, inexact = self.terms + other.terms, self.inexact + other.inexact
        largest, additions = self.largest + other.largest, np.maximum(terms - 1, 0.0)
        return Summand._sum(
            in_any_order(value, inexact, largest, additions, self.form, nonnegative), terms, inexact, largest
        )


def _is_summand(number: Any) -> bool:
    """Whether a number is a sum of terms, or the zero that a sum begins with."""
    return isinstance(number, Summand) or (isinstance(number, Bounded) and not np.count_nonzero(not_zero(number)))
