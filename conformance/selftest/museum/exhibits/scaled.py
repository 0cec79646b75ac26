"""Loss scaling and gradient accumulation: an overflow not seen, or too late; a clip or a decay in the wrong place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.batches import ACCUMULATED, SCALED, ClipsScaled, wrapper_as
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.museum.exhibit import bug, enter
from optimetry.conformance.targets.numpy.batches import unscaled
from optimetry.conformance.targets.numpy.target import RuleRun, ScalingRun


class _OverflowIgnored(RuleRun):
    """Takes the step that should be skipped."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step with whatever comes."""
        return self.step(unscaled(grads, scale), learning_rate)


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
        self.step(unscaled(grads, scale), learning_rate)
        self.training.parameters = before
        return [np.array(param) for param in before]


class _DecaysEachPart(ScalingRun):
    """Decays parameters for every part of a batch."""

    def step_accumulated(self, parts: Sequence[Grads], learning_rate: float) -> list[Array]:
        """Step with all, behind a decay for each part but the last, whose decay the rule does itself."""
        training = self.training
        kept = 1 - learning_rate * training.rule.hyper()["weight_decay"]
        for i, grad in enumerate(parts[0]):
            for _ in range(len(parts) - 1 if grad is not None else 0):
                training.parameters[i] = training.parameters[i] * kept
        return super().step_accumulated(parts, learning_rate)


enter(
    "loss scale",
    (
        bug(
            "torch-96106",
            "torch.adamw",
            "the fused step is taken although a gradient has overflowed, once gradients were scaled back",
            run_as(_OverflowIgnored),
            rejected_by=SCALED,
        ),
        bug(
            "torch-186360",
            "torch.adam",
            "the fused step on MPS ignores the scale of its gradients and their overflow",
            run_as(_ScaleIgnored),
            rejected_by=SCALED,
        ),
        bug(
            "deepspeed-8432",
            "torch.muon",
            "an overflowed gradient enters the momentum before its step is thrown away: NaN for ever",
            run_as(_OverflowEntersTheState),
            rejected_by=SCALED,
        ),
        bug(
            "apex-1512",
            "clip_by_global_norm",
            "the clip takes gradients as unscaled while they are still scaled",
            wrapper_as(ClipsScaled),
            rejected_by=SCALED,
        ),
    ),
)

enter(
    "accumulation",
    (
        bug(
            "keras-19998",
            "torch.adamw",
            "decay, clip and schedule act on every part of a batch in place of their sum; shown by the decay",
            run_as(_DecaysEachPart),
            rejected_by=ACCUMULATED,
        ),
    ),
)
