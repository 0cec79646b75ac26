"""Moving averages formed as increments: the documented number, but rounded otherwise.

``m + (1-b)*(g - m)`` is ``b*m + (1-b)*g`` in exact arithmetic. Where g is far below m and b is small, it keeps rounding
errors of the size of the old m, which no slack for regrouped arithmetic covers. So this is no axis, on which rules
differ, and no dialect: it is a way to compute the documented rule, or a dialect.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import DIALECTS, FAMILIES, Dialect
from optimetry.reference.rule import Array, Rule

INCREMENTAL = "incremental_moments"
"""The field of a family that says so, and the name of the documented rule with increments."""


def moving_average(old: Array, new: Array, decay: Any, *, incremental: bool) -> Array:
    """``old`` moved towards ``new``, as documented or as an increment."""
    return old + (1 - decay) * (new - old) if incremental else decay * old + (1 - decay) * new


def moving_average_of_squares(old: Array, grad: Array, decay: Any, *, incremental: bool) -> Array:
    """The same towards ``grad**2``. Rounding is monotone, so no increment makes it negative: the maximum says that."""
    average = moving_average(old, np.square(grad), decay, incremental=incremental)
    return np.maximum(average, 0.0) if incremental else average


@dataclass(frozen=True)
class Incremental:
    """A rule whose moments are formed as increments; the attributes are those of a dialect.

    Attributes:
        optimizer: the name of the documented rule.
        dialect: which rule it is, None for the documented one.
    """

    optimizer: str
    dialect: Dialect | None = None

    @property
    def name(self) -> str:
        """Unique among the names of the rule's dialects and their variants."""
        return INCREMENTAL if self.dialect is None else f"{self.dialect.name}+{INCREMENTAL}"

    @property
    def origin(self) -> str:
        """Which frameworks and versions compute it."""
        return "Keras, in optimizers without an update step of the backend's own"

    @property
    def difference(self) -> str:
        """What differs, as a formula."""
        line = "m += (1-b1)*(g - m), rounded so"
        return line if self.dialect is None else f"{self.dialect.difference}; {line}"

    def rule(self, hyper: Mapping[str, Any]) -> Rule:
        """The rule, with these documented hyperparameters.

        Raises:
            HyperparameterError: as for the documented rule.
        """
        rule = FAMILIES[self.optimizer].of(hyper) if self.dialect is None else self.dialect.rule(hyper)
        return dataclasses.replace(rule, **{INCREMENTAL: True})


def incremental_variants(optimizer: str) -> tuple[Incremental, ...]:
    """The documented rule and every dialect with increments; none for a rule whose family does not know them."""
    if not hasattr(FAMILIES.get(optimizer), INCREMENTAL):
        return ()
    return (Incremental(optimizer), *(Incremental(optimizer, dialect) for dialect in DIALECTS[optimizer]))
