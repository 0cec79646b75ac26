"""Steps of one rule over a list of parameters, keeping each parameter's state and step count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.reference.rule import Array, Rule, State


class Training:
    """A rule bound to its parameters, for any kind of array the rule's NumPy functions dispatch on.

    Args:
        rule: the update rule, its hyperparameters lifted to that kind of number where needed.
        parameters: the parameters before the first step; they are not changed.
    """

    def __init__(self, rule: Rule, parameters: Sequence[Array]) -> None:
        self.rule = rule
        self.parameters = list(parameters)
        self.states: list[State] = [rule.initial_state(param) for param in parameters]
        self.updates = [0] * len(self.parameters)

    def step(self, grads: Sequence[Array | None], lr: Any) -> list[Array]:
        """One update of every parameter that has a gradient; the others keep parameter, state and update count.

        Infinities and NaN propagate silently: what they mean is for the caller to judge.
        """
        with np.errstate(all="ignore"):
            for i, grad in enumerate(grads):
                if grad is not None:
                    self.updates[i] += 1
                    self.parameters[i], self.states[i] = self.rule.update(
                        self.parameters[i], grad, self.states[i], lr, self.updates[i]
                    )
        return list(self.parameters)
