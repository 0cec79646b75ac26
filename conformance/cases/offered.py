"""Constructs the cases that a target offers: what its library cannot do is replaced, and no case is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array

MISSING, ZERO_D, EMPTY, NONFINITE, RATES_THAT_CHANGE = CANNOT = (
    "missing gradients",
    "0-d parameters",
    "empty parameters",
    "NaN and infinities",
    "learning rates that change",
)
"""What a library may be unable to take, in the words of a target's attribute ``cannot``."""


@dataclass(frozen=True)
class Limits:
    """What a target does not offer of one subject.

    Attributes:
        cannot: words of `CANNOT`.
        pinned: hyperparameters by name, each with the one value that it can have.
        at_most: hyperparameters by name, each with its largest value.
        rate: the one learning rate that a step can have; None where it can have any.
    """

    cannot: frozenset[str] = frozenset()
    pinned: tuple[tuple[str, Any], ...] = ()
    at_most: tuple[tuple[str, Any], ...] = ()
    rate: float | None = None

    @property
    def bounds(self) -> bool:
        """Whether it bounds hyperparameters."""
        return bool(self.pinned or self.at_most)

    def untried(self) -> list[str]:
        """Describe what no case contains because of these limits."""
        return [
            *(word for word in CANNOT if word in self.cannot),
            *(f"{name} other than {value}" for name, value in self.pinned),
            *(f"{name} above {limit}" for name, limit in self.at_most),
            *([] if self.rate is None else [f"learning rates other than {self.rate}"]),
        ]

    def held(self, hyper: Mapping[str, Any]) -> dict[str, Any]:
        """Return hyperparameters with the values that they can have."""
        return {**hyper, **dict(self.pinned), **{name: min(hyper[name], limit) for name, limit in self.at_most}}

    def lacking(self, case: Case) -> list[str]:
        """Describe what is in a case and not offered."""
        return [
            *(word for word in CANNOT if word in self.cannot and PRESENT[word](case)),
            *(f"{name} other than {value}" for name, value in self.pinned if case.hyper[name] != value),
            *(f"{name} above {limit}" for name, limit in self.at_most if case.hyper[name] > limit),
            *([f"learning rates other than {self.rate}"] if self._rated(case) != case.learning_rates else []),
        ]

    def offered(self, case: Case) -> Case:
        """Return a case as it can be asked of the target; the same where nothing is lacking.

        Hyperparameters take the value that they can have, or the largest. A missing gradient becomes the parameter's
        gradient of the step before, or else of the next that has one; 0-d arrays get one dimension, and empty ones one
        element, 1. NaN and infinities become 0. All learning rates become the first, or the one that there can be.
        """
        if not self.lacking(case):
            return case
        if MISSING in self.cannot:
            columns = [[row[i] for row in case.grads] for i in range(len(case.parameters))]
            filled = [_filled(column, param) for column, param in zip(columns, case.parameters, strict=True)]
            rows = (tuple(column[step] for column in filled) for step in range(len(case.grads)))
            case = case.replace(grads=tuple(rows))
        if RATES_THAT_CHANGE in self.cannot:
            case = case.replace(learning_rates=case.learning_rates[:1] * len(case.learning_rates))
        return case.each(self._taken).replace(hyper=self.held(case.hyper), learning_rates=self._rated(case))

    def _rated(self, case: Case) -> tuple[float, ...]:
        return case.learning_rates if self.rate is None else (self.rate,) * len(case.learning_rates)

    def _taken(self, array: Array) -> Array:
        if array.ndim == 0 and ZERO_D in self.cannot:
            return array.reshape(1)
        if array.size == 0 and EMPTY in self.cannot:
            return np.ones([max(length, 1) for length in array.shape], array.dtype)
        if NONFINITE in self.cannot:
            return np.asarray(np.where(np.isfinite(array), array, np.zeros_like(array)))
        return array


PRESENT: Mapping[str, Callable[[Case], bool]] = {
    MISSING: lambda case: any(grad is None for grads in case.grads for grad in grads),
    ZERO_D: lambda case: any(array.ndim == 0 for array in case.parameters),
    EMPTY: lambda case: any(array.size == 0 for array in case.parameters),
    NONFINITE: lambda case: not all(np.isfinite(array).all() for array in case.arrays),
    RATES_THAT_CHANGE: lambda case: len(set(case.learning_rates)) > 1,
}
"""Whether a case contains what a word of `CANNOT` is about."""

UNLIMITED = Limits()
"""The limits of a target that says nothing."""


def _filled(grads: Sequence[Array | None], param: Array) -> list[Array]:
    """Fill the gaps among the gradients of one parameter."""
    latest = next((grad for grad in grads if grad is not None), np.zeros_like(param))
    return [latest := latest if grad is None else grad for grad in grads]
