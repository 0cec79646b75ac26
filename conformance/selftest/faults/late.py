"""Runs that use the gradients or the learning rate of an earlier step."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import enter
from optimetry.conformance.selftest.faults.hooks import Grads, hooked
from optimetry.conformance.selftest.faults.runs import beside, run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.numpy.wrappers import GradientFeed
from optimetry.reference.rule import Rule


class _Late(RuleRun):
    """Uses the gradients of an earlier step, and none before there is one."""

    steps = 1

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.queue: list[Grads] = [[None] * len(parameters) for _ in range(self.steps)]

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        self.queue.append([None if grad is None else grad.copy() for grad in grads])
        return super().step(self.queue.pop(0), learning_rate)


class _TwoLate(_Late):
    """The same two steps later."""

    steps = 2


class _LateOwn(RuleRun):
    """Uses each parameter's gradient before this one, and zeros at first."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.before = [np.zeros_like(param) for param in parameters]

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        used = [None if grad is None else old for grad, old in zip(grads, self.before, strict=True)]
        self.before = [old if new is None else new.copy() for old, new in zip(self.before, grads, strict=True)]
        return super().step(used, learning_rate)


class _LateFeed(GradientFeed):
    """Clips the gradients of the step before, and zeros at first."""

    before: list[Array] | None = None

    def transform(self, grads: list[Array]) -> list[Array]:
        used = self.before or [np.zeros_like(grad) for grad in grads]
        self.before = [grad.copy() for grad in grads]
        return super().transform(used)


enter(
    beside(
        "gradient_of_the_step_before",
        "adam",
        "uses the gradients of the step before",
        "an all-reduce that is not waited for: the gradients are those of the step before",
        run_as(_Late),
        dtypes=("float32", "float64"),
    ),
    beside(
        "gradient_of_two_steps_before",
        "momentum",
        "uses the gradients of 2 steps before",
        "a pipeline of two stages updates with the gradients of two steps before",
        run_as(_TwoLate),
    ),
    beside(
        "gradient_before_this_one",
        "lars_momentum",
        "uses the gradients of the step before",
        "two buffers of gradients are swapped too early",
        run_as(_LateOwn),
    ),
    beside(
        "clipped_a_step_late",
        "clip_by_norm",
        "uses the gradients of the step before",
        "the clipped gradients are written where those of the next step are read",
        run_as(_LateFeed),
    ),
    beside(
        "rate_of_two_steps_before",
        "ftrl",
        "uses the learning rate of 2 steps before",
        "the scheduler acts two steps late",
        hooked(rate=lambda rates: rates[-3:][0]),
    ),
)
