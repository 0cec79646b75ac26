"""Runs that do something beside their rule: a slot in less precision, an update left out, state that outlives a run.

Others of these kinds stand with the state, the elements, the gradients and the precision that they are about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import Grads, hooked, rounded
from optimetry.conformance.selftest.faults.state import RunWithMemory
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.numpy.wrappers import AverageFeed
from optimetry.reference.averaging.exponential import Decayed
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State


def run_as(kind: Callable[[Any, list[Array]], Any]) -> Start:
    """Begin runs of this kind."""
    return lambda documented, parameters, memory: kind(documented, parameters)


def _slot_in(slot: str, dtype: Any) -> Start:
    """Runs that hold one slot in a dtype, from the first step on."""

    class Held(RuleRun):
        def step(self, grads: Grads, learning_rate: float) -> list[Array]:
            after = super().step(grads, learning_rate)
            self.training.states = [
                State(**{**state, slot: working(rounded(np.array(state[slot]), dtype))})
                for state in self.training.states
            ]
            return after

    return run_as(Held)


def _skipping(skipped: Callable[[int], bool]) -> Start:
    """Runs that leave out some steps, counted from 1."""

    class Skipping(RuleRun):
        taken = 0

        def step(self, grads: Grads, learning_rate: float) -> list[Array]:
            self.taken += 1
            return super().step([None] * len(grads) if skipped(self.taken) else grads, learning_rate)

    return run_as(Skipping)


def _last_kept(before: Array, after: Array) -> Array:
    kept = after.copy()
    kept.flat[-1:] = before.flat[-1:]
    return kept


class _LastOut(RuleRun):
    """Leaves out the last element of each tensor, and its state."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        training = self.training
        before, states = list(training.parameters), list(training.states)
        super().step(grads, learning_rate)
        training.parameters = [self._kept(*pair) for pair in zip(before, training.parameters, strict=True)]
        training.states = [
            State(**{slot: self._kept(old[slot], array) for slot, array in new.items()})
            for old, new in zip(states, training.states, strict=True)
        ]
        return [np.array(param) for param in training.parameters]

    def _kept(self, before: Any, after: Any) -> Any:
        return working(_last_kept(np.array(before), np.array(after)))


class _FirstMomentAnew(RunWithMemory):
    """Starts the first moment anew in every step."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        states = self.training.states
        self.training.states = [
            State(**{**state, "moment1": self._initial(i).moment1}) for i, state in enumerate(states)
        ]
        return super().step(grads, learning_rate)


class _OutlivesRuns(RunWithMemory):
    """Keeps states and counts on the class, by the shapes of the parameters."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.key = str([param.shape for param in parameters])
        if self.key in memory:
            self.training.states, self.training.updates = (list(kept) for kept in memory[self.key])

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        self.memory[self.key] = list(self.training.states), list(self.training.updates)
        return after


class _HalfAverage(AverageFeed):
    """Holds its averages in bfloat16."""

    def update(self, parameters: list[Array]) -> None:
        super().update(parameters)
        updates, held = self._state
        narrow = [working(rounded(np.array(x), ml_dtypes.bfloat16)) for x in held.biased]
        self._state = updates, Decayed(held.product, narrow)


def _none_unless(holds: Callable[[Array], Any]) -> Callable[[Grads], Grads]:
    return lambda grads: [grad if grad is not None and holds(grad) else None for grad in grads]


EMA = ExponentialMovingAverage.name


def beside(
    name: str,
    optimizer: str,
    does: str,
    defect: str,
    start: Start,
    *,
    rule: str = "documented",
    verdict: str = "diverges",
    **more: Any,
) -> Fault:
    """Declare a fault of a run, which ``does`` something beside its rule: the documented one, or ``rule``."""
    return Fault(name, optimizer, defect, start, outcome=f"{verdict}: {rule}, but {does}", **more)


enter(
    beside(
        "second_moment_in_bfloat16",
        "adam",
        "keeps moment2 in bfloat16",
        "the second moment alone is held in bfloat16, to save memory",
        _slot_in("moment2", ml_dtypes.bfloat16),
        dtypes=("float32", "float64"),
        verdict="imprecise",
        because="computes the documented rule, but keeps moment2 in bfloat16",
    ),
    beside(
        "first_moment_in_float16",
        "lamb",
        "keeps moment1 in float16",
        "the first moment alone is held in float16",
        _slot_in("moment1", np.float16),
        verdict="imprecise",
    ),
    beside(
        "linear_part_in_float32",
        "ftrl",
        "keeps linear_accum in float32",
        "the linear part is held in float32 beside float64 parameters",
        _slot_in("linear_accum", np.float32),
        dtypes=("float64",),
        verdict="imprecise",
    ),
    beside(
        "average_in_bfloat16",
        EMA,
        "keeps its state in bfloat16",
        "averages are held in bfloat16",
        run_as(_HalfAverage),
        verdict="imprecise",
    ),
    beside(
        "every_second_update_skipped",
        "adagrad",
        "skips every 2nd update",
        "gradients are meant to be accumulated over two steps, and are thrown away in one of them",
        _skipping(lambda step: step % 2 == 0),
    ),
    beside(
        "every_third_update_skipped",
        "lamb",
        "skips every 3rd update",
        "every third step is taken for a warm-up",
        _skipping(lambda step: step % 3 == 0),
    ),
    beside(
        "one_update_in_four",
        "rmsprop",
        "skips all but every 4th update",
        "updates every fourth step, with that step's gradients alone",
        _skipping(lambda step: step % 4 != 0),
    ),
    beside(
        "last_element_skipped",
        "adam",
        "leaves out the last element of every tensor",
        "the loop ends at n - 1",
        hooked(parameter=_last_kept),
        dtypes=("float32", "float64"),
    ),
    beside(
        "last_element_skipped_by_a_dialect",
        "adam",
        "leaves out the last element of every tensor",
        "epsilon is scaled, and the loop ends at n - 1",
        hooked("scaled_epsilon", parameter=_last_kept),
        rule="scaled_epsilon",
    ),
    beside(
        "last_element_skipped_with_its_state",
        "lars_momentum",
        "leaves out the last element of every tensor",
        "the loop ends at n - 1, in a rule with norms",
        run_as(_LastOut),
    ),
    beside(
        "first_tensor_dropped",
        "momentum",
        "leaves out the first of several tensors",
        "the list of several parameters is read from 1",
        hooked(grads=lambda grads: [None if i == 0 < len(grads) - 1 else grad for i, grad in enumerate(grads)]),
    ),
    beside(
        "first_moment_started_anew",
        "adam",
        "starts moment1 anew in every step",
        "the first moment is a local variable of the step",
        _FirstMomentAnew,
    ),
    beside(
        "state_outlives_runs",
        "adam",
        "starts with the state that the run before it ended with",
        "state is kept on the class, for every list of shapes",
        _OutlivesRuns,
        rejected_by="repeatable",
    ),
    beside(
        "velocity_outlives_runs",
        "momentum",
        "starts with the state that the run before it ended with",
        "state is kept on the class, for every list of shapes",
        _OutlivesRuns,
        rejected_by="repeatable",
    ),
    beside(
        "nonfinite_replaced_by_zero",
        "rmsprop",
        "takes 0 for NaN and infinities in gradients",
        "nan_to_num with zeros for all",
        hooked(gradient=lambda grad: np.where(np.isfinite(grad), grad, grad.dtype.type(0))),
        rejected_by="nonfinite_gradients_act",
    ),
    beside(
        "nonfinite_gradient_is_missing",
        "momentum",
        "takes no gradient for a whole gradient with NaN or an infinity in it",
        "a parameter whose gradient is not finite is left out of the step",
        hooked(grads=_none_unless(lambda grad: np.isfinite(grad).all())),
        rejected_by="nonfinite_gradients_stay",
    ),
    beside(
        "zero_gradient_is_missing",
        "adam",
        "takes no gradient for a whole gradient of zeros",
        "a parameter whose gradient is all zero, as under DDP where nothing used it, is left out of the step",
        hooked(grads=_none_unless(np.any)),
    ),
    beside(
        "steps_that_are_not_finite_are_dropped",
        "adam",
        "takes 0 for NaN and infinities in steps",
        "epsilon is scaled, and nan_to_num makes 0 of a step that is not finite: neuralnetlib 5.0.0",
        hooked("scaled_epsilon", parameter=lambda old, new: np.where(np.isfinite(new), new, old)),
        rule="scaled_epsilon",
        rejected_by="nonfinite_gradients_act",
    ),
    beside(
        "clipped_at_ten",
        "lars_momentum",
        "clips every gradient element to ±10",
        "gradients are clipped to ±10 without being asked",
        hooked(gradient=lambda grad: np.clip(grad, -10.0, 10.0).astype(grad.dtype)),
    ),
)
