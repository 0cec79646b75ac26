"""Update rules as subjects, and how their steps are counted: for each parameter, or once for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.subjects.subject import LEARNING_RATE, Numbers, Subject
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.training import Training

OWN, EVERY_STEP, ANY_GRADIENT = "own", "every_step", "any_gradient"
"""What t counts: the updates of the parameter, all steps, or the steps in which any parameter has a gradient."""

STEP_COUNT = "step_count"
"""The field of a formula that holds one of these; a formula without it counts as documented."""


class SharedCount(Training):
    """A rule bound to its parameters, with one count for all of them, and one of each number that goes with it."""

    def step(self, grads: Sequence[Array | None], lr: Any) -> list[Array]:
        """One update of every parameter that has a gradient."""
        steps = max(self.updates, default=0)
        every = getattr(self.rule, STEP_COUNT) == EVERY_STEP
        self.updates = [steps] * len(self.updates)
        after = super().step(grads, lr)
        if every or any(grad is not None for grad in grads):
            self.updates = [steps + 1] * len(self.updates)
            if self._numbers:
                self.states = [self._counted(i, lr) if grad is None else self.states[i] for i, grad in enumerate(grads)]
        return after

    @cached_property
    def _numbers(self) -> tuple[str, ...]:
        return number_slots(self.rule)

    def _counted(self, i: int, lr: Any) -> State:
        """Return the slots of a parameter without a gradient, of which those that are one number are updated."""
        param, state = self.parameters[i], self.states[i]
        with np.errstate(all="ignore"):
            _, after = self.rule.update(param, np.zeros_like(param), state, lr, self.updates[i])
        return State(**dict(state) | {name: after[name] for name in self._numbers})


def training(rule: Rule, parameters: Sequence[Array]) -> Training:
    """Bind a rule to its parameters, in the training that it brings, or else counting as it says."""
    counts = Training if getattr(rule, STEP_COUNT, OWN) == OWN else SharedCount
    kind: type[Training] = getattr(rule, "training", counts)
    return kind(rule, parameters)


def number_slots(rule: Rule) -> tuple[str, ...]:
    """Return the slots that are one number of the whole parameter in place of an array.

    A rule to which shapes matter has none: what it holds of matrices alone is 0 where there are none.
    """
    held = {} if rule.shaped else rule.initial_state(np.zeros(1))
    return tuple(name for name, value in held.items() if isinstance(value, float))


UNDOCUMENTED_RATE = 0.001
"""The learning rate of rules without a documented one."""


class RuleSubject(Subject):
    """An update rule: a step takes gradients and a learning rate, and returns the updated parameters."""

    declaration: type[Rule]
    has_learning_rate: ClassVar[bool] = True

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
            arrays = [None if grad is None else numbers.array(grad) for grad in grads]
            yield trained.step(arrays, numbers.scalar(LEARNING_RATE, rate)), list(trained.states)

    def magnitudes(self, case: Case) -> Sequence[Array]:
        """Return the magnitudes of the parameters before the first step."""
        return [np.asarray(np.abs(param)) for param in case.parameters]


def documented_defaults(subject: Subject) -> tuple[dict[str, Any], float]:
    """Return the hyperparameters and the learning rate that a rule's document gives as defaults.

    Where it gives none, the first corner that the rule declares and `UNDOCUMENTED_RATE` stand in.
    """
    rule = cast(Rule, subject.declaration.typical())
    return rule.hyper(), rule.learning_rate or UNDOCUMENTED_RATE
