"""Loss scaling: an overflow that is not seen, or seen too late."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.museum.exhibit import bug, enter
from optimetry.conformance.targets.numpy.target import RuleRun, ScalingRun


def _unscaled(grads: Grads, scale: float) -> Grads:
    return [None if grad is None else np.array(grad / scale, grad.dtype) for grad in grads]


class _OverflowIgnored(RuleRun):
    """Takes the step that should be skipped."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step with whatever comes."""
        return self.step(_unscaled(grads, scale), learning_rate)


class _ScaleIgnored(RuleRun):
    """Takes scaled gradients for gradients."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step with them as they are."""
        return self.step(grads, learning_rate)


class _OverflowEntersTheState(ScalingRun):
    """Throws the step away once the state has moved."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Take the parameters back, and not the state."""
        if all(grad is None or np.isfinite(grad).all() for grad in grads):
            return super().step_scaled(grads, learning_rate, scale)
        before = list(self.training.parameters)
        self.step(_unscaled(grads, scale), learning_rate)
        self.training.parameters = before
        return [np.array(param) for param in before]


BY_THE_LAW: dict[str, Any] = {"rejected_by": "scaled_gradients"}

enter(
    "loss scale",
    (
        bug(
            "torch-96106",
            "torch.adamw",
            "the fused step is taken although a gradient has overflowed, once gradients were scaled back",
            run_as(_OverflowIgnored),
            **BY_THE_LAW,
        ),
        bug(
            "torch-186360",
            "torch.adam",
            "the fused step on MPS ignores the scale of its gradients and their overflow",
            run_as(_ScaleIgnored),
            **BY_THE_LAW,
        ),
        bug(
            "deepspeed-8432",
            "torch.muon",
            "an overflowed gradient enters the momentum before its step is thrown away: NaN for ever",
            run_as(_OverflowEntersTheState),
            **BY_THE_LAW,
        ),
    ),
)
