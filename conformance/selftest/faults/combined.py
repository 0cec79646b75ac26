"""Two things around an optimizer, neither of them a schedule: a clip within Lookahead, caution with a clip.

Both stand in one training loop as soon as somebody adds the second.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.around import Cautious, Lookahead, centred
from optimetry.conformance.selftest.faults.fault import Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import Grads, HookedRun, Hooks
from optimetry.conformance.selftest.faults.layouts import GradientFromTheFirst
from optimetry.conformance.selftest.faults.recipes import clipped_together
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.faults.steps import SumOfTwo
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.books.torch.adam import Adam
from optimetry.reference.rule import Rule, State

CAUTIOUS = "moves only the elements whose step goes against the gradient, divided by the share of these elements"
TOGETHER = "scales all gradients together to a norm of at most 1"
BACK = "moves parameters back to 0.5 of their way every 5 steps"


class _Clipped(RuleRun):
    """Scales all gradients of a step together."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Clip, and step."""
        return super().step(clipped_together(grads), learning_rate)


class _Limited(RuleRun):
    """Clips the elements of gradients."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Clip, and step."""
        limited = [None if grad is None else np.minimum(np.maximum(grad, -0.5), 0.5) for grad in grads]
        return super().step(limited, learning_rate)


class _Centred(RuleRun):
    """Subtracts the mean of each gradient."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Subtract, and step."""
        return super().step([None if grad is None else centred(grad) for grad in grads], learning_rate)


class _WarmedUp(RuleRun):
    """Multiplies the learning rate by the part of eight steps that are done."""

    def __init__(self, rule: Rule, parameters: list[Any]) -> None:
        super().__init__(rule, parameters)
        self.steps = 0

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Count, and step."""
        self.steps += 1
        return super().step(grads, learning_rate * min(1.0, self.steps / 8))


class _ClippedAndCautious(_Clipped, Cautious):
    """Clips, and masks the step."""


class _CautiousWithinLookahead(Lookahead, Cautious):
    """Masks the step, and pulls back."""


class _CautiousAndWarmedUp(_WarmedUp, Cautious):
    """Multiplies the rate, and masks the step."""


class _ClippedWithinLookahead(Lookahead, _Clipped):
    """Clips, steps and pulls back."""


class _LimitedWithinLookahead(Lookahead, _Limited):
    """Clips elements, steps and pulls back."""


class _ClippedThenCentred(_Clipped, _Centred):
    """Clips, then subtracts the mean of what is left."""


class _CollectedThenClipped(SumOfTwo, _Clipped):
    """Clips the sum of two gradients."""


class _LimitedAndReadInRows(GradientFromTheFirst, _Limited):
    """Takes the memory of every gradient for rows, and clips elements."""


class _OfMatrices(Adam):
    """Leaves biases and gains out of the decay."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        rule = self if param.ndim > 1 else dataclasses.replace(self, weight_decay=0.0)
        return super(_OfMatrices, rule).update(param, grad, state, lr, t)


def _clipped_of_matrices(rule: Rule, parameters: list[Any], memory: Memory) -> HookedRun:
    return HookedRun(_OfMatrices.of(rule.hyper()), parameters, Hooks(grads=clipped_together))


def _both(first: str, second: str) -> str:
    return f"diverges: documented, but {first}; and {second}"


enter(
    Fault(
        name="clipped_and_cautious",
        optimizer="adam",
        defect="a cautious step, beside a clip of all gradients together",
        start=run_as(_ClippedAndCautious),
        outcome=_both(CAUTIOUS, TOGETHER),
    ),
    Fault(
        name="cautious_within_lookahead",
        optimizer="adam",
        defect="a cautious step within Lookahead, which do not show in the first step",
        start=run_as(_CautiousWithinLookahead),
        outcome=_both(CAUTIOUS, BACK),
    ),
    Fault(
        name="cautious_and_warmed_up",
        optimizer="adam",
        defect="a cautious step with a warm-up",
        start=run_as(_CautiousAndWarmedUp),
        outcome=_both(CAUTIOUS, "multiplies the learning rate by min(1, t/8), where t counts every step"),
    ),
    Fault(
        name="clipped_within_lookahead",
        optimizer="rmsprop",
        defect="Lookahead around an optimizer that clips all gradients together",
        start=run_as(_ClippedWithinLookahead),
        outcome=_both(BACK, TOGETHER),
    ),
    Fault(
        name="limited_within_lookahead",
        optimizer="adamax",
        defect="Lookahead around one that clips their elements",
        start=run_as(_LimitedWithinLookahead),
        outcome=_both(BACK, "clips every gradient element to ±0.5"),
    ),
    Fault(
        name="clipped_then_centred",
        optimizer="momentum",
        defect="gradient centralization behind a clip, which is in the trainer",
        start=run_as(_ClippedThenCentred),
        outcome=_both("subtracts from every gradient its mean over all axes but the first", TOGETHER),
    ),
    Fault(
        name="collected_then_clipped",
        optimizer="sgd",
        defect="gradients of two steps are added, and their sum is clipped",
        start=run_as(_CollectedThenClipped),
        outcome=_both(TOGETHER, "updates every 2 steps, by the sum of their gradients"),
    ),
    Fault(
        name="clipped_and_decaying_matrices",
        optimizer="torch.adam",
        defect="a recipe in one class: all gradients are clipped, and biases and gains do not decay",
        start=_clipped_of_matrices,
        outcome=_both("decays only tensors of two or more dimensions", TOGETHER),
    ),
    Fault(
        name="limited_and_read_in_rows",
        optimizer="ftrl",
        defect="elements are clipped, and a fused kernel is given the address of a gradient and no strides",
        start=run_as(_LimitedAndReadInRows),
        outcome="diverges: documented, but clips every gradient element to ±0.5",
    ),
)
