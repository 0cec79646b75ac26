"""Update rules as subjects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.counting import training
from optimetry.conformance.subjects.subject import LEARNING_RATE, Numbers, Subject
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Rule, State

UNDOCUMENTED_RATE = 0.001
"""The learning rate of rules without a documented one."""


class RuleSubject(Subject):
    """An update rule: a step takes gradients and a learning rate, and returns the updated parameters."""

    declaration: type[Rule]
    has_learning_rate: ClassVar[bool] = True

    @property
    def joint(self) -> bool:
        """No parameter's update depends on the others."""
        return False

    def trajectory(self, case: Case, numbers: Numbers, computed: Declared | None = None) -> Iterator[Sequence[Any]]:
        """Yield the parameters after each step."""
        return (parameters for parameters, _ in self.states(case, numbers, computed))

    def states(
        self, case: Case, numbers: Numbers, computed: Declared | None = None
    ) -> Iterator[tuple[Sequence[Any], Sequence[State]]]:
        """Yield the parameters and their slots after each step."""
        rule = cast(Rule, computed or self.of(case.hyper)).lifted(numbers.scalar)
        trained = training(rule, [numbers.array(param) for param in case.parameters])
        for grads, rate in case.steps:
            given = [None if grad is None else numbers.array(grad) for grad in grads]
            yield trained.step(given, numbers.scalar(LEARNING_RATE, rate)), list(trained.states)

    def magnitudes(self, case: Case) -> Sequence[Array]:
        """Return the magnitudes of the parameters before the first step."""
        return [np.asarray(np.abs(param)) for param in case.parameters]


def documented_defaults(subject: Subject) -> tuple[dict[str, Any], float]:
    """Return the hyperparameters and the learning rate that a rule's document gives as defaults.

    Where it gives none, the first corner that the rule declares and `UNDOCUMENTED_RATE` stand in.
    """
    required = {x.name: x.corners[0] for x in subject.hyperparameters() if x.default is None}
    rule = cast(Rule, subject.of(required))
    return rule.hyper(), rule.learning_rate or UNDOCUMENTED_RATE
