"""Targets that take gradients under a loss scale, or those of the parts of a batch, otherwise than the whole's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.batches import mean_of, unscaled
from optimetry.conformance.targets.numpy.target import ScalingRun
from optimetry.conformance.targets.numpy.wrappers import Documented
from optimetry.reference.precision import working
from optimetry.reference.rule import State

SCALED, ACCUMULATED = "scaled_gradients", "accumulated_gradients"


class ClipsScaled(Documented):
    """Clips before it divides by the scale."""

    def transform_scaled(self, grads: list[Array], scale: float) -> list[Array]:
        """Do all with gradients as they are given, then divide."""
        return unscaled(self.transform(grads), scale)


class _ClipsEachPart(Documented):
    """Clips the gradients of every part, in place of their mean."""

    def transform_accumulated(self, parts: Sequence[list[Array]]) -> list[Array]:
        """Return the mean of what is clipped."""
        return mean_of([self.transform(part) for part in parts])


class _DecayScaled(ScalingRun):
    """Divides by the scale last, so that the decay is divided, too."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step with a decay that is smaller by the scale."""
        rule = self.training.rule
        whole = {**rule.hyper(), "weight_decay": rule.hyper()["weight_decay"] / scale}
        self.training.rule = type(rule).of(whole)
        after = super().step_scaled(grads, learning_rate, scale)
        self.training.rule = rule
        return after


class _SkippedCounts(ScalingRun):
    """Counts a step that is left out."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step or not, and count."""
        if all(grad is None or np.isfinite(grad).all() for grad in grads):
            return super().step_scaled(grads, learning_rate, scale)
        self.training.updates = [count + 1 for count in self.training.updates]
        return [np.array(param) for param in self.training.parameters]


class _VelocityOfASkippedStep(ScalingRun):
    """Allocates the velocity in the first step, and leaves it unfilled where that step is skipped."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step or not; a first step that is skipped leaves ones."""
        after = super().step_scaled(grads, learning_rate, scale)
        if not any(self.training.updates):
            self.training.states = [
                State(**{slot: working(np.ones_like(array)) for slot, array in state.items()})
                for state in self.training.states
            ]
        return after


class _LooksAtTheFirst(ScalingRun):
    """Looks for infinities in the first gradient alone."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step where the first gradient is finite, whatever the others are."""
        first = [grad for grad in grads if grad is not None][:1]
        if all(np.isfinite(grad).all() for grad in first):
            return self.step(unscaled(grads, scale), learning_rate)
        return super().step_scaled(grads, learning_rate, scale)


class _LooksForInfinities(ScalingRun):
    """Looks for infinities, and takes NaN for a number."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step where no gradient is infinite."""
        if any(grad is not None and np.isinf(grad).any() for grad in grads):
            return super().step_scaled(grads, learning_rate, scale)
        return self.step(unscaled(grads, scale), learning_rate)


class _LargeScaleCut(ScalingRun):
    """Keeps the scale in float16, whose largest power of two is 32768."""

    def step_scaled(self, grads: Grads, learning_rate: float, scale: float) -> list[Array]:
        """Step with a scale that is cut."""
        return super().step_scaled(grads, learning_rate, min(scale, 32768.0))


class _ManyPartsSummed(ScalingRun):
    """Takes the sum of the parts for their mean where there are more than two."""

    def step_accumulated(self, parts: Sequence[Grads], learning_rate: float) -> list[Array]:
        """Step with the mean of two parts, or with the sum of more."""
        mean = mean_of(parts)
        return self.step(mean if len(parts) <= 2 else unscaled(mean, 1 / len(parts)), learning_rate)


class _DividedTwice(ScalingRun):
    """Divides each part by their number, and the sum once more."""

    def step_accumulated(self, parts: Sequence[Grads], learning_rate: float) -> list[Array]:
        """Step with too small a mean."""
        return self.step(unscaled(mean_of(parts), len(parts)), learning_rate)


class _NotDivided(ScalingRun):
    """Takes the sum of the parts for their mean."""

    def step_accumulated(self, parts: Sequence[Grads], learning_rate: float) -> list[Array]:
        """Step with the sum."""
        return self.step(unscaled(mean_of(parts), 1 / len(parts)), learning_rate)


class _LastPart(ScalingRun):
    """Clears gradients before every part."""

    def step_accumulated(self, parts: Sequence[Grads], learning_rate: float) -> list[Array]:
        """Step with those of the last."""
        return self.step(unscaled(parts[-1], len(parts)), learning_rate)


class _CountsParts(ScalingRun):
    """Counts a step for every part of a batch."""

    def step_accumulated(self, parts: Sequence[Grads], learning_rate: float) -> list[Array]:
        """Step with a count that all parts have raised."""
        held = [len(parts) - 1 if grad is not None else 0 for grad in parts[0]]
        self.training.updates = [count + more for count, more in zip(self.training.updates, held, strict=True)]
        return super().step_accumulated(parts, learning_rate)


def wrapper_as(kind: type[Documented]) -> Any:
    """Begin runs of a documented clip or regularizer as this kind."""

    def start(wrapper: Any, parameters: list[Array], memory: Memory) -> Documented:
        return kind(wrapper.name, wrapper.hyper(), parameters)

    return start


def _fault(name: str, optimizer: str, defect: str, law: str, kind: type[ScalingRun] | type[Documented]) -> Fault:
    start = wrapper_as(kind) if issubclass(kind, Documented) else run_as(kind)
    return Fault(name, optimizer, defect, start, rejected_by=law)


enter(
    _fault("clipped_before_unscaling", "clip_by_norm", "the norm is that of scaled gradients", SCALED, ClipsScaled),
    _fault("decay_divided_by_the_scale", "torch.adamw", "the decay is divided by the loss scale", SCALED, _DecayScaled),
    _fault("skipped_step_counts", "adam", "a step that is left out advances the count", SCALED, _SkippedCounts),
    _fault(
        "velocity_of_a_skipped_step",
        "momentum",
        "the velocity is made and not filled where the first step is left out, as in torch's fused SGD",
        SCALED,
        _VelocityOfASkippedStep,
    ),
    _fault(
        "overflow_sought_in_the_first", "adam", "infinities are sought in the first gradient", SCALED, _LooksAtTheFirst
    ),
    _fault("nan_is_no_overflow", "momentum", "a step with a NaN is taken under a scale", SCALED, _LooksForInfinities),
    _fault("scale_kept_in_half", "momentum", "a scale above 32768 is taken for 32768", SCALED, _LargeScaleCut),
    _fault("parts_clipped", "clip_by_global_norm", "each part's gradients are clipped", ACCUMULATED, _ClipsEachPart),
    _fault("mean_divided_twice", "sgd", "the mean of the parts is divided by their number", ACCUMULATED, _DividedTwice),
    _fault("sum_of_parts_for_the_mean", "rmsprop", "the parts are not averaged", ACCUMULATED, _NotDivided),
    _fault("many_parts_summed", "torch.adamw", "more than two parts are not averaged", ACCUMULATED, _ManyPartsSummed),
    _fault("last_part_alone", "momentum", "gradients are cleared before every part", ACCUMULATED, _LastPart),
    _fault("parts_counted", "adam", "the count is advanced by every part of a batch", ACCUMULATED, _CountsParts),
)
