"""What is made of a parameter that has no gradient in a step."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.state import Run
from optimetry.reference.rule import Rule


class MissingIsZero(Run):
    """Takes a missing gradient for one of zeros."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Apply one update of every parameter."""
        params = self.training.parameters
        filled: Grads = [np.zeros_like(np.array(p)) if g is None else g for p, g in zip(params, grads, strict=True)]
        return super().step(filled, learning_rate)


class _MissingRepeats(Run):
    """Uses the gradient before where one is missing."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.latest: Grads = [None] * len(parameters)

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        self.latest = [old if new is None else new.copy() for old, new in zip(self.latest, grads, strict=True)]
        return super().step(self.latest, learning_rate)


class _MissingResets(Run):
    """Forgets the state of a parameter without a gradient."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        for i, grad in enumerate(grads):
            if grad is None:
                self.training.states[i] = self._initial(i)
        return super().step(grads, learning_rate)


class _MissingShifts(Run):
    """Leaves missing gradients out of a list, whose later entries go to the parameters before theirs."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        given = [grad for grad in grads if grad is not None]
        shapes = [param.shape for param in self.training.parameters]
        shifted: Grads = [None] * len(grads)
        for i, shape in enumerate(shapes):
            if given and given[0].shape == shape:
                shifted[i] = given.pop(0)
        return super().step(shifted, learning_rate)


enter(
    Fault(
        name="missing_gradient_is_zero",
        optimizer="rmsprop",
        defect="a missing gradient acts as one of zeros: state decays, velocity goes on (torch set_to_none=False)",
        start=MissingIsZero,
        outcome="diverges: documented with zeros in place of a missing gradient",
        because="check your adapter",
    ),
    Fault(
        name="missing_gradient_repeats_the_last",
        optimizer="sgd",
        defect="where a gradient is missing, the one before acts again: gradients are never cleared",
        start=_MissingRepeats,
        outcome="diverges: documented with the gradient before in place of a missing one",
        rejected_by="missing_gradient",
    ),
    Fault(
        name="missing_gradient_resets_state",
        optimizer="adagrad",
        defect="the state of a parameter without a gradient is freed",
        start=_MissingResets,
        rejected_by="missing_gradient_rests",
        outcome="diverges: documented, but starts moment anew where the gradient is missing",
    ),
    Fault(
        name="missing_gradient_shifts_the_others",
        optimizer="sgd",
        defect="gradients after a missing one go to the parameter before, where the shape allows",
        start=_MissingShifts,
    ),
)
