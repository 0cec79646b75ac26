"""Learning rates: inside a state, lost on the way, or in the wrong place."""

from __future__ import annotations

import dataclasses
from typing import Any

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter
from optimetry.conformance.targets.numpy.target import RuleRun


class _ScheduleReachesTheDecay(RuleRun):
    """Steps with the first learning rate, and decays with that of the step."""

    first: float | None = None

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.documented = rule

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Scale the strength of the decay in place of the rate."""
        self.first = self.first or learning_rate
        strength = self.documented.weight_decay * learning_rate / self.first
        self.training.rule = dataclasses.replace(self.documented, weight_decay=strength)
        return super().step(grads, self.first)


enter(
    "learning rate",
    (
        edited(
            "aprender-2190",
            "momentum",
            "the learning rate is inside the velocity, which a new rate tells",
            ("velocity + grad", "velocity + lr * grad"),
            ("direction = grad", "direction = lr * grad"),
            ("param - lr * direction", "param - direction"),
            outcome="dialect: learning_rate_inside",
        ),
        edited(
            "flux-expdecay-1",
            "sgd",
            "the gradient is multiplied by the decay of the learning rate, 0.1, in place of the rate",
            ("lr * grad", "0.1 * grad"),
            outcome="diverges: documented with learning_rate = 0.1 whatever is given",
        ),
        bug(
            "radam-26",
            "torch.adamw",
            "the step has the full learning rate, and the decay alone the one of the warm-up",
            run_as(_ScheduleReachesTheDecay),
            "diverges: documented, but decays by this learning rate, and steps by that of the first step",
        ),
    ),
)
