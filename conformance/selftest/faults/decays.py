"""Targets that decay something else in the place of the parameter, or one parameter alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.naming.alterations import with_gradients
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.mutations import DECAYS
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun


class _WithoutDecay(RuleRun):
    """Runs the rule without its decay; each subclass adds another one."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(dataclasses.replace(rule, weight_decay=0.0), parameters)
        self.weight_decay = rule.weight_decay
        self.maximize = -1 if getattr(rule, "maximize", False) else 1

    def decay(self, numbers: Sequence[int], learning_rate: float) -> None:
        """Decay these parameters, apart from their gradients."""
        for i in numbers:
            param = self.training.parameters[i]
            self.training.parameters[i] = param - learning_rate * self.weight_decay * param


class OfThePreviousGradient(_WithoutDecay):
    """Keeps the gradient where the weight should be kept."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.previous = [np.zeros_like(param) for param in parameters]

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add the decay of the gradient before."""
        fed: Grads = []
        for i, grad in enumerate(grads):
            if grad is not None:
                with np.errstate(all="ignore"):
                    fed.append((grad + self.maximize * self.weight_decay * self.previous[i]).astype(grad.dtype))
                self.previous[i] = grad.copy()
            else:
                fed.append(None)
        return super().step(fed, learning_rate)


class OfThePosition(_WithoutDecay):
    """Takes a loop's counter for the weight."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add the decay of 1, 2, 3, ..."""
        terms = [self.maximize * self.weight_decay * (i + 1) for i in range(len(grads))]
        fed = [None if g is None else (g + term).astype(g.dtype) for g, term in zip(grads, terms, strict=True)]
        return super().step(fed, learning_rate)


class AtTheFirstRate(_WithoutDecay):
    """Decays by the learning rate that it was made with."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.first: float | None = None

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay before the step."""
        self.first = learning_rate if self.first is None else self.first
        self.decay(with_gradients(grads), self.first)
        return super().step(grads, learning_rate)


class OfTheLastParameter(_WithoutDecay):
    """Decays one parameter alone: the one that a loop has left over."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay behind the loop."""
        self.decay(with_gradients(grads)[-1:], learning_rate)
        return super().step(grads, learning_rate)


enter(
    Fault(
        name="decay_of_the_gradient_before",
        optimizer="torch.rmsprop",
        defect="the decay is of the gradient before, as in burn",
        start=run_as(OfThePreviousGradient),
        outcome=DECAYS.format("the gradient before in place of the parameter"),
    ),
    Fault(
        name="decay_at_the_first_rate",
        optimizer="torch.adamw",
        defect="the decay is by the initial learning rate, and no schedule reaches it",
        start=run_as(AtTheFirstRate),
        outcome=DECAYS.format("by the learning rate of the first step"),
    ),
    Fault(
        name="decay_of_the_position",
        optimizer="torch.adagrad",
        defect="a loop's counter is decayed, as in torch for R",
        start=run_as(OfThePosition),
        outcome=DECAYS.format("the parameter's position in the list, from 1, in its place"),
    ),
    Fault(
        name="decay_of_the_last_alone",
        optimizer="torch.nadam",
        defect="the decay stands behind the loop over parameters, as in Ranger21",
        start=run_as(OfTheLastParameter),
        outcome=DECAYS.format("the last of several parameters alone"),
    ),
)
