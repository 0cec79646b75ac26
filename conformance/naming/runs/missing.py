"""Lists what a missing gradient may do beside leaving a parameter alone: in that step, or from then on."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.programs import STEP, parts_of, program_of
from optimetry.conformance.naming.throughout import averages_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import State

BREAKS = (missing_gradient, resuming)
"""The checks that these mistakes break; what they keep is not part of a saved state."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what a missing gradient may do."""
    if not isinstance(subject, RuleSubject):
        return
    for number in subject.hyperparameters():
        if number.kind is float and 0.0 in number.corners:
            yield _then(f"takes {number.name} for 0", Instead({number.name: 0.0}))
    yield _then("never updates the parameter again", Never())
    slots = subject.declaration.slots
    if slots:
        yield _then("starts its state anew in every step", Anew())
        yield _there("updates the state as with zeros", AsWithZeros(moves=False))
        yield _there("moves the parameter as with zeros, and keeps its state", AsWithZeros(moves=True))
    program = program_of(subject.declaration.typical())
    decays = {
        slot: str(correction[2][1]) for slot, correction in averages_of(program or {}) if isinstance(correction, tuple)
    }
    counted = [part for line in (program or {}).values() for part in parts_of(line) if part == STEP]
    if decays and counted:
        names = " and ".join(decays)
        yield _there(f"counts the step, and keeps {names} as corrected", KeptCorrected(decays))


def _then(does: str, alteration: Alteration) -> Mistake:
    run = {"finding": "missing", "does": does, "when": "from the first missing gradient on"}
    return Mistake(run=run, alteration=alteration, breaks=BREAKS)


def _there(does: str, alteration: Alteration) -> Mistake:
    run = {"finding": "missing", "does": does, "when": "where the gradient is missing"}
    return Mistake(run=run, alteration=alteration, breaks=BREAKS)


class _FromThenOn(Alteration, ABC):
    """Updates a parameter otherwise once a gradient of it was missing."""

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Update the parameters that have had every gradient, then the others."""
        missed = training.memory.setdefault("missed", set())
        plain([None if i in missed else grad for i, grad in enumerate(grads)], lr)
        with np.errstate(all="ignore"):
            for i in missed:
                if grads[i] is not None:
                    training.updates[i] += 1
                    training.parameters[i], training.states[i] = self.otherwise(training, i, grads[i], lr)
        missed.update(i for i, grad in enumerate(grads) if grad is None)
        return list(training.parameters)

    @abstractmethod
    def otherwise(self, training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
        """Return a parameter and its state after such a step."""


@dataclass(frozen=True, eq=False)
class Instead(_FromThenOn):
    """Computes the rule with other hyperparameters.

    Attributes:
        values: which.
    """

    values: Mapping[str, Any]

    def otherwise(self, training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
        """Do the update with these values."""
        formula: Any = training.rule
        other = copy.copy(formula.formula)
        for name, value in self.values.items():
            object.__setattr__(other, name, value)
        after: tuple[Any, State] = other.update(
            training.parameters[i], grad, training.states[i], lr, training.updates[i]
        )
        return after


class Never(_FromThenOn):
    """Leaves the parameter as it is."""

    def otherwise(self, training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
        """Keep both."""
        return training.parameters[i], training.states[i]


class Anew(_FromThenOn):
    """Starts the state anew in every step."""

    def otherwise(self, training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
        """Do the update from the first state."""
        param = training.parameters[i]
        return training.rule.update(param, grad, training.rule.initial_state(param), lr, training.updates[i])


@dataclass(frozen=True)
class AsWithZeros(Alteration):
    """Does half of an update with a gradient of zeros where one is missing.

    Attributes:
        moves: whether it is the parameter's half; else it is the state's.
    """

    moves: bool

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Update all parameters, and take one half back."""
        before, states, updates = list(training.parameters), list(training.states), list(training.updates)
        plain([np.zeros_like(x) if grad is None else grad for x, grad in zip(before, grads, strict=True)], lr)
        for i in (i for i, grad in enumerate(grads) if grad is None):
            if self.moves:
                training.states[i], training.updates[i] = states[i], updates[i]
            else:
                training.parameters[i] = before[i]
        return list(training.parameters)


@dataclass(frozen=True, eq=False)
class KeptCorrected(Alteration):
    """Counts every step, with averages that are kept corrected: what they sum up grows with the count.

    Attributes:
        decays: the slots that are averages, each with its decay.
    """

    decays: Mapping[str, str]

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Do the step, and count it for the parameters without a gradient."""
        after = plain(grads, lr)
        for i in (i for i, grad in enumerate(grads) if grad is None):
            count = training.updates[i]
            training.updates[i] = count + 1
            if count:
                kept = {slot: x * self._growth(training.rule, slot, count) for slot, x in training.states[i].items()}
                training.states[i] = State(**kept)
        return after

    def _growth(self, rule: Any, slot: str, count: int) -> Any:
        if slot not in self.decays:
            return 1.0
        decay = getattr(rule, self.decays[slot])
        return (1 - decay ** (count + 1)) / (1 - decay**count)
