"""The documented rules with hyperparameters held in float32 beside wider parameters.

These are no families: the rule is the documented one, and only its numbers are rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.rule import Rule, rule_named


@dataclass(frozen=True)
class RoundedHyperparameters:
    """A documented rule some of whose numbers are rounded to float32.

    Attributes:
        name: unique among the variants of the rule, and no name of a dialect.
        optimizer: the name of the documented rule.
        rounded: the real hyperparameters that are rounded.
        rounds_learning_rate: whether the learning rate of every step is to be rounded as well, with `to_float32`.
        origin: which frameworks and versions compute it.
    """

    name: str
    optimizer: str
    rounded: tuple[str, ...]
    rounds_learning_rate: bool
    origin: str

    @property
    def difference(self) -> str:
        """The numbers that differ, as a formula."""
        names = [*self.rounded, *(["lr"] if self.rounds_learning_rate else [])]
        return "; ".join(f"{name} = float32({name})" for name in names)

    def rule(self, hyper: Mapping[str, Any]) -> Rule:
        """The documented rule with these hyperparameters, rounded.

        Raises:
            HyperparameterError: as for the documented rule, before rounding.
        """
        return self.applied(rule_named(self.optimizer).of(hyper))

    def applied(self, rule: Rule) -> Rule:
        """``rule``, a dialect perhaps, with its hyperparameters rounded.

        Rounding may carry one out of its domain (0.99999999 becomes 1), as it does in the frameworks that round.
        """
        return rule.lifted(lambda name, number: to_float32(number) if name in self.rounded else number)


def to_float32(number: float) -> float:
    """``number`` rounded to float32."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def precision_variants(optimizer: str) -> tuple[RoundedHyperparameters, ...]:
    """Every variant of a documented rule: one number rounded, all but the learning rate, and all.

    Raises:
        UnknownOptimizerError: no such rule.
    """
    real = tuple(parameter.name for parameter in rule_named(optimizer).hyperparameters() if parameter.kind is float)

    def variant(name: str, rounded: tuple[str, ...], *, learning_rate: bool, origin: str) -> RoundedHyperparameters:
        return RoundedHyperparameters(f"float32_{name}", optimizer, rounded, learning_rate, origin)

    found = [variant(name, (name,), learning_rate=False, origin="a hyperparameter held as a float") for name in real]
    found.append(variant("learning_rate", (), learning_rate=True, origin="a learning rate held in float32"))
    if len(real) > 1:
        found.append(variant("hyperparameters", real, learning_rate=False, origin="PaddlePaddle 3.3, some rules"))
    if real:
        found.append(variant("all", real, learning_rate=True, origin="PaddlePaddle 1.8.5, for float64 parameters too"))
    return tuple(found)
