"""Lists what a missing gradient may do beside leaving a parameter alone: in that step, or from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import (
    Alteration,
    AlteredTraining,
    Step,
    Stepping,
    with_gradients,
    without_gradients,
)
from optimetry.conformance.naming.edits.corrections import averages_of
from optimetry.conformance.naming.formulas.programs import STEP, parts_of, program_of
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs import decay
from optimetry.conformance.numerics.arrays import with_zeros
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

BREAKS = (missing_gradient, resuming)
"""The checks that these mistakes break; what they keep is not part of a saved state."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what a missing gradient may do."""
    if not isinstance(subject, RuleSubject):
        return
    for number in subject.hyperparameters():
        if number.kind is float and 0.0 in number.corners:
            yield _then(f"takes {number.name} for 0", partial(_at_zero, number.name))
    yield _then("never updates the parameter again", _never)
    slots = subject.declaration.slots
    if slots:
        yield _then("starts its state anew in every step", _anew)
        yield _there("updates the state as with zeros", partial(_as_with_zeros, False))
        yield _there("moves the parameter as with zeros, and keeps its state", partial(_as_with_zeros, True))
    for name in decay.strengths(subject):
        yield _there("decays the parameter", partial(_decayed, name, False), name)
        yield _there("counts the step, and decays the parameter", partial(_decayed, name, True), name)
    program = program_of(subject.declaration.typical())
    decays = {
        slot: str(correction[2][1]) for slot, correction in averages_of(program or {}) if isinstance(correction, tuple)
    }
    counted = [part for line in (program or {}).values() for part in parts_of(line) if part == STEP]
    if decays and counted:
        names = " and ".join(decays)
        yield _there(f"counts the step, and keeps {names} as corrected", partial(_kept_corrected, decays))


def _then(does: str, otherwise: Otherwise) -> Mistake:
    return _mistake(does, "from the first missing gradient on", partial(_from_then_on, otherwise))


def _there(does: str, step: Stepping, strength: str = "") -> Mistake:
    return _mistake(does, "where the gradient is missing", step, strength)


def _mistake(does: str, when: str, step: Stepping, strength: str = "") -> Mistake:
    run = {"finding": "missing", "does": does, "when": when}
    return Mistake(run=run, alteration=Alteration(step=step), breaks=BREAKS, strength=strength)


Otherwise = Callable[[AlteredTraining, int, Any, Any], tuple[Any, State]]
"""Returns a parameter and its state after a step, from its number, its gradient and the learning rate."""


def _from_then_on(
    otherwise: Otherwise, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Update the parameters that have had every gradient, then the others otherwise."""
    missed = training.memory.setdefault("missed", set())
    plain([None if i in missed else grad for i, grad in enumerate(grads)], lr)
    with np.errstate(all="ignore"):
        for i in with_gradients(grads):
            if i in missed:
                training.updates[i] += 1
                training.parameters[i], training.states[i] = otherwise(training, i, grads[i], lr)
    missed.update(without_gradients(grads))
    return list(training.parameters)


def _at_zero(name: str, training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
    """Do the update with a hyperparameter at 0."""
    formula: Rule = cast(Any, training.rule).formula
    param, state, count = training.parameters[i], training.states[i], training.updates[i]
    return formula.with_values({name: 0.0}).update(param, grad, state, lr, count)


def _never(training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
    """Leave the parameter as it is."""
    return training.parameters[i], training.states[i]


def _anew(training: AlteredTraining, i: int, grad: Any, lr: Any) -> tuple[Any, State]:
    """Do the update from the first state."""
    param = training.parameters[i]
    return training.rule.update(param, grad, training.rule.initial_state(param), lr, training.updates[i])


def _as_with_zeros(moves: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Update all parameters, with zeros where a gradient is missing, and take half of that back.

    Kept is the parameter's half if it ``moves``, else the state's.
    """
    before, states, updates = list(training.parameters), list(training.states), list(training.updates)
    plain(with_zeros(grads, before), lr)
    for i in without_gradients(grads):
        if moves:
            training.states[i], training.updates[i] = states[i], updates[i]
        else:
            training.parameters[i] = before[i]
    return list(training.parameters)


def _decayed(
    name: str, counts: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Take the decay, whose strength is called ``name``, off every parameter without a gradient; may count the step."""
    strength, before = getattr(training.rule, name), list(training.parameters)
    plain(grads, lr)
    for i in without_gradients(grads):
        training.updates[i] += counts
        training.parameters[i] = before[i] - lr * strength * before[i]
    return list(training.parameters)


def _kept_corrected(
    decays: Mapping[str, str], training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Count every step, with averages that are kept corrected: what they sum up grows with the count.

    The slots that are averages are those of ``decays``, each with the name of its decay.
    """
    after = plain(grads, lr)
    for i in without_gradients(grads):
        count = training.updates[i]
        training.updates[i] = count + 1
        if count:
            numbers = {slot: getattr(training.rule, decay) for slot, decay in decays.items()}
            growth = {slot: (1 - decay ** (count + 1)) / (1 - decay**count) for slot, decay in numbers.items()}
            kept = {slot: x * growth.get(slot, 1.0) for slot, x in training.states[i].items()}
            training.states[i] = State(**kept)
    return after
