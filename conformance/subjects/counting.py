"""Trains rules that count steps otherwise than documented: one count for all parameters, in place of one for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimetry.reference.rule import Array, Rule
from optimetry.reference.training import Training

OWN, EVERY_STEP, ANY_GRADIENT = "own", "every_step", "any_gradient"
"""What t counts: the updates of the parameter, all steps, or the steps in which any parameter has a gradient."""

STEP_COUNT = "step_count"
"""The field of a formula that holds one of these; a formula without it counts as documented."""


class SharedCount(Training):
    """A rule bound to its parameters, with one count for all of them."""

    def step(self, grads: Sequence[Array | None], lr: Any) -> list[Array]:
        """One update of every parameter that has a gradient."""
        steps = max(self.updates, default=0)
        every = getattr(self.rule, STEP_COUNT) == EVERY_STEP
        self.updates = [steps] * len(self.updates)
        after = super().step(grads, lr)
        self.updates = [steps + (every or any(grad is not None for grad in grads))] * len(self.updates)
        return after


def training(rule: Rule, parameters: Sequence[Array]) -> Training:
    """Bind a rule to its parameters, in the training that it brings, or else counting as it says."""
    counts = Training if getattr(rule, STEP_COUNT, OWN) == OWN else SharedCount
    kind: type[Training] = getattr(rule, "training", counts)
    return kind(rule, parameters)
