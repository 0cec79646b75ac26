"""Kernels that skip elements or tensors, update them twice, or treat them by their place."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads, hooked, skipping_elements, skipping_tensors
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.precision import working


def _position_dependent(before: Array, after: Array) -> Array:
    positions = np.arange(after.size, dtype=after.dtype).reshape(after.shape)
    with np.errstate(all="ignore"):
        moved: Array = (after + (after - before) * positions / 1024).astype(after.dtype)
    return moved


class _TwiceRun(RuleRun):
    """Updates the first parameter twice in every step."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        super().step([grads[0], *[None] * (len(grads) - 1)], learning_rate)
        return super().step(grads, learning_rate)


class _LateRun(RuleRun):
    """Returns the parameters of the step before."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        before = [np.array(param) for param in self.training.parameters]
        super().step(grads, learning_rate)
        return before


class _IdleRun(RuleRun):
    """Leaves the parameters, though not the state, as they are in the first step."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        before = [np.array(param) for param in self.training.parameters]
        after = super().step(grads, learning_rate)
        if max(self.training.updates) > 1:
            return after
        self.training.parameters = [working(param) for param in before]
        return before


class _MakesState(RuleRun):
    """Only makes the state of a parameter at its first gradient, without an update."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        first = [grad is not None and count == 0 for grad, count in zip(grads, self.training.updates, strict=True)]
        after = super().step([None if new else grad for new, grad in zip(first, grads, strict=True)], learning_rate)
        self.training.updates = [count + new for count, new in zip(self.training.updates, first, strict=True)]
        return after


enter(
    Fault(
        name="vector_tail_skipped",
        optimizer="sgd",
        defect="elements after the last multiple of 8 are not updated: a vector loop without its remainder",
        start=skipping_elements(lambda size: slice(size - size % 8, size)),
        outcome="diverges: documented, but leaves out the elements behind the last multiple of 8",
    ),
    Fault(
        name="long_vector_tail_skipped",
        optimizer="rmsprop",
        defect="elements after the last multiple of 16 are not updated, in tensors of at least 16",
        start=skipping_elements(lambda size: slice(size - size % 16, size) if size >= 16 else slice(0)),
        outcome="diverges: documented, but leaves out the elements behind the last multiple of 16, in tensors"
        " of at least 16",
    ),
    Fault(
        name="vector_blocks_skipped",
        optimizer="sgd",
        defect="from 16 elements on, only the remainder is updated: torch 2.13 CPU fused SGD in half precision "
        "(pytorch issue 191763)",
        start=skipping_elements(lambda size: slice(size - size % 16)),
        dtypes=("float16", "bfloat16", "float32"),
        outcome="diverges: documented, but leaves out the elements up to the last multiple of 16",
    ),
    Fault(
        name="first_element_skipped",
        optimizer="adagrad",
        defect="the loop starts at 1",
        start=skipping_elements(lambda size: slice(1)),
        outcome="diverges: documented, but leaves out the first element of every tensor",
    ),
    Fault(
        name="both_ends_skipped",
        optimizer="rmsprop",
        defect="the stencil of a loop leaves out the first and the last element of tensors longer than 8",
        start=skipping_elements(lambda size: slice(0, size, size - 1) if size > 8 else slice(0)),
        outcome="diverges: documented, but leaves out the first and the last element of tensors with more than"
        " 8 elements",
    ),
    Fault(
        name="elements_beyond_64_skipped",
        optimizer="adadelta",
        defect="one thread block of 64 is launched, whatever the length",
        start=skipping_elements(lambda size: slice(64, None)),
        outcome="diverges: documented, but leaves out the elements behind the 64th",
    ),
    Fault(
        name="scalars_skipped",
        optimizer="adagrad",
        defect="a 0-d parameter is taken for a missing one",
        start=hooked(parameter=lambda before, after: after if after.ndim else before),
        outcome="diverges: no update where number of dimensions < 1; documented where number of dimensions >= 1",
    ),
    Fault(
        name="single_elements_skipped",
        optimizer="adamax",
        defect="a parameter of one element is taken for a constant",
        start=hooked(parameter=lambda before, after: after if after.size > 1 else before),
        outcome="diverges: no update where number of elements is 1; documented where number of elements is not 1",
    ),
    Fault(
        name="position_dependent_rate",
        optimizer="adadelta",
        defect="the step grows with the index of the element",
        start=hooked(parameter=_position_dependent),
        rejected_by="permutation",
    ),
    Fault(
        name="last_tensor_dropped",
        optimizer="rmsprop",
        defect="the last of several parameters is never updated: range(n - 1)",
        start=skipping_tensors(lambda i, count: i == count - 1 > 0),
        outcome="diverges: documented, but leaves out the last of several tensors",
    ),
    Fault(
        name="fifth_tensor_dropped",
        optimizer="sgd",
        defect="one launch takes at most four tensors, and there is but one launch",
        start=skipping_tensors(lambda i, count: i >= 4),
        outcome="diverges: documented, but leaves out every tensor behind the 4th",
    ),
    Fault(
        name="first_tensor_updated_twice",
        optimizer="lamb",
        defect="chunks of a multi-tensor kernel overlap in the first parameter",
        start=run_as(_TwiceRun),
        rejected_by="parameters_are_independent",
    ),
    Fault(
        name="one_step_late",
        optimizer="adamax",
        defect="the parameters returned are those before the step, as asynchronous copies do",
        start=run_as(_LateRun),
        outcome="diverges: documented, but returns the parameters of the step before",
    ),
    Fault(
        name="first_step_idle",
        optimizer="adamax",
        defect="nothing moves in the first step, which apex's test of its fused optimizers does not notice",
        start=run_as(_IdleRun),
        outcome="diverges: documented, but skips the first update of the parameters, though not of the state",
    ),
    Fault(
        name="first_step_makes_the_state",
        optimizer="adam",
        defect="state is made in the first step, and the update forgotten there: `if not state: ... else:`, as in npnn",
        start=run_as(_MakesState),
        outcome="diverges: documented, but skips the first update, though it counts",
    ),
    Fault(
        name="parameters_returned_in_reverse",
        optimizer="ftrl",
        defect="the list of parameters is returned from its end, equal shapes unnoticed",
        start=hooked(
            returned=lambda after: [x if x.shape == y.shape else y for x, y in zip(after[::-1], after, strict=True)]
        ),
    ),
)
