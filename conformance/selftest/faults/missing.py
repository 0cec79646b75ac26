"""What is made of a parameter that has no gradient in a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.naming.alterations import without_gradients
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import Grads, alone
from optimetry.conformance.selftest.faults.state import RunWithMemory
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State


class MissingIsZero(RunWithMemory):
    """Takes a missing gradient for one of zeros."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Apply one update of every parameter."""
        params = self.training.parameters
        filled: Grads = [np.zeros_like(np.array(p)) if g is None else g for p, g in zip(params, grads, strict=True)]
        return super().step(filled, learning_rate)


class _MissingRepeats(RunWithMemory):
    """Uses the gradient before where one is missing."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.latest: Grads = [None] * len(parameters)

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        self.latest = [old if new is None else new.copy() for old, new in zip(self.latest, grads, strict=True)]
        return super().step(self.latest, learning_rate)


class _MissingResets(RunWithMemory):
    """Forgets the state of a parameter without a gradient."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        for i, grad in enumerate(grads):
            if grad is None:
                self.training.states[i] = self._initial(i)
        return super().step(grads, learning_rate)


class _EvictsAtRest(RunWithMemory):
    """Drops the state of a parameter that has had no gradient for a dozen steps, as a cache of states would."""

    patience = 12

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.rested = [0] * len(parameters)

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        for i, grad in enumerate(grads):
            self.rested[i] = 0 if grad is not None else self.rested[i] + 1
            if self.rested[i] == self.patience:
                self.training.states[i] = self._initial(i)
        return super().step(grads, learning_rate)


class _MissingDrops(RunWithMemory):
    """Goes on without momentum for a parameter that once had no gradient."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.missed: set[int] = set()
        self.rules = rule.of({**rule.hyper(), "momentum": 0.0}), rule

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        training = self.training
        for i in range(len(grads)):
            training.rule = self.rules[i not in self.missed]
            super().step(alone(grads, i), learning_rate)
        self.missed |= {i for i, grad in enumerate(grads) if grad is None}
        return [np.array(param) for param in training.parameters]


class _MissingDecays(RunWithMemory):
    """Lets the state of a parameter without a gradient decay."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        before = list(self.training.parameters)
        super().step(
            [np.zeros_like(np.array(p)) if g is None else g for p, g in zip(before, grads, strict=True)], learning_rate
        )
        pairs = zip(before, self.training.parameters, grads, strict=True)
        self.training.parameters = [old if grad is None else new for old, new, grad in pairs]
        return [np.array(param) for param in self.training.parameters]


class _MissingCounts(RunWithMemory):
    """Counts the steps without a gradient, with moments that are kept corrected."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        training: Any = self.training
        for i in without_gradients(grads):
            count, rule = training.updates[i], training.rule
            training.updates[i] = count + 1
            growth = [(1 - d ** (count + 1)) / (1 - d**count) if count else 1.0 for d in (rule.beta1, rule.beta2)]
            state = training.states[i]
            training.states[i] = State(moment1=growth[0] * state.moment1, moment2=growth[1] * state.moment2)
        return after


class _MissingScales(RunWithMemory):
    """Takes the decay off every parameter before the step, also off one without a gradient."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        training: Any = self.training
        for i in without_gradients(grads):
            training.parameters[i] = training.parameters[i] * (1 - learning_rate * training.rule.weight_decay)
        return super().step(grads, learning_rate)


class _MissingScalesAndCounts(_MissingScales):
    """The same with one count of the optimizer's steps."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        for i in without_gradients(grads):
            self.training.updates[i] += 1
        return after


class _ZeroElementsRest(RunWithMemory):
    """Updates no element whose gradient is 0, nor its state."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        training = self.training
        before = list(zip(training.parameters, training.states, strict=True))
        super().step(grads, learning_rate)
        for i, grad in enumerate(grads):
            if grad is not None:
                (param, state), rests = before[i], grad == 0
                training.parameters[i] = working(np.where(rests, param, training.parameters[i]))
                slots = {slot: working(np.where(rests, state[slot], x)) for slot, x in training.states[i].items()}
                training.states[i] = State(**slots)
        return [np.array(param) for param in training.parameters]


class _MissingShifts(RunWithMemory):
    """Leaves missing gradients out of a list, whose later entries go to the parameters before theirs."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        present = [grad for grad in grads if grad is not None]
        shapes = [param.shape for param in self.training.parameters]
        shifted: Grads = [None] * len(grads)
        for i, shape in enumerate(shapes):
            if present and present[0].shape == shape:
                shifted[i] = present.pop(0)
        return super().step(shifted, learning_rate)


enter(
    Fault(
        name="missing_gradient_is_zero",
        optimizer="rmsprop",
        defect="a missing gradient acts as one of zeros: state decays, velocity goes on (torch set_to_none=False)",
        start=MissingIsZero,
        outcome="diverges: documented with zeros in place of a missing gradient",
        because="check how arguments are passed on",
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
        name="state_evicted_at_rest",
        optimizer="adam",
        defect="the state of a parameter without a gradient for a dozen steps is dropped, as by a cache",
        start=_EvictsAtRest,
        rejected_by="missing_gradient_rests",
    ),
    Fault(
        name="missing_gradient_drops_the_velocity",
        optimizer="momentum",
        defect="a velocity is dropped for good where a gradient is missing: TorchOpt 0.7.3",
        start=_MissingDrops,
        outcome="diverges: documented, but takes momentum for 0 from the first missing gradient on",
        dtypes=("float32", "float64"),
    ),
    Fault(
        name="missing_gradient_lets_state_decay",
        optimizer="rmsprop",
        defect="the state of a parameter without a gradient decays, and the parameter rests",
        start=_MissingDecays,
        outcome="diverges: documented, but updates the state as with zeros where the gradient is missing",
        rejected_by="oracle",
    ),
    Fault(
        name="missing_gradient_counts_for_corrected_moments",
        optimizer="adam",
        defect="every step is counted, and moments are kept corrected: optimi 0.3.3",
        start=_MissingCounts,
        outcome="diverges: documented, but counts the step, and keeps moment1 and moment2 as corrected"
        " where the gradient is missing",
        rejected_by="missing_gradient_rests",
    ),
    Fault(
        name="missing_gradient_decays_the_parameter",
        optimizer="papers.lion",
        defect="a loop over all parameters decays those without a gradient, too",
        start=_MissingScales,
        outcome="diverges: documented, but decays the parameter where the gradient is missing",
        rejected_by="missing_gradient",
    ),
    Fault(
        name="missing_gradient_counts_and_decays",
        optimizer="torch.adamw",
        defect="one count of steps, and a loop that decays parameters without a gradient, too: forgeNN",
        start=_MissingScalesAndCounts,
        outcome="diverges: documented, but counts the step, and decays the parameter where the gradient is missing",
        rejected_by="missing_gradient",
    ),
    Fault(
        name="zero_elements_rest",
        optimizer="momentum",
        defect="elements whose gradient is 0 are left out of the step, as rows that a batch does not use",
        start=_ZeroElementsRest,
        outcome="diverges: documented, but leaves out the elements whose gradient is 0",
    ),
    Fault(
        name="missing_gradient_shifts_the_others",
        optimizer="sgd",
        defect="gradients after a missing one go to the parameter before, where the shape allows",
        start=_MissingShifts,
    ),
)
