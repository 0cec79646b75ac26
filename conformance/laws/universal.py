"""Laws that hold whatever the target computes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from optimetry.conformance.laws.law import (
    NotOffered,
    Trial,
    behind,
    first_difference,
    is_elementwise,
    is_elementwise_rule,
    is_rule,
    keeps_state,
    law,
)
from optimetry.conformance.laws.variations import (
    MANY,
    complete,
    each,
    gapped,
    halved,
    largest,
    many,
    other_options,
    poisonings,
    switched_on,
    with_options,
)
from optimetry.conformance.numerics.arrays import Array, apart, flat, same_bits
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.session import Session, in_turn, watched
from optimetry.reference.errors import TargetFault

FORMS = ((12, 12), (4, 3, 3, 4))
"""The shapes of a square matrix and of the weights of a convolution, of as many elements."""

TOGETHER = 5
"""The steps of two runs that are under way together."""

State = Mapping[str, list[Array]]
"""What a run has saved: one array per parameter under each slot name."""


@law("two runs of the same case give the same bits")
def repeatable(trial: Trial) -> str | None:
    a, b = trial.run(anew=True), trial.run(anew=True)
    return None if same_bits(a, b) else first_difference(a != b, a, b)


@law("what a run may change ends with it: a run in between changes no bit of the next")
def runs_are_independent(trial: Trial) -> str | None:
    fresh = trial.run(anew=True)
    trial.on(each(trial.case, np.negative)).run(anew=True)
    again = trial.run(anew=True)
    return None if same_bits(fresh, again) else first_difference(fresh != again, fresh, again)


@law("a run is what it is alone, whatever runs beside it with other options", applies=is_rule)
def runs_side_by_side(trial: Trial) -> str | None:
    """Where runs can be saved: `start` of a simple target returns the target itself, which has one run at a time."""
    case = trial.case.upto(TOGETHER)
    beside = with_options(trial.on(each(case, np.negative)), other_options(case)).case
    with watched(trial.guard):
        alone = Session(trial.target, case)
        if not can_be_saved(alone.run):
            return None
        plain = [flat(after) for after in in_turn(trial.target, (partial(alone.step, *step) for step in case.steps))]
        both = [Session(trial.target, each) for each in (case, beside)]
        steps = zip(case.steps, beside.steps, strict=True)
        calls = (partial(run.step, *step) for pair in steps for run, step in zip(both, pair, strict=True))
        together = [flat(after) for after in in_turn(trial.target, calls)][::2]
    a, b = np.array(plain), np.array(together)
    return None if same_bits(a, b) else first_difference(a != b, a, b)


@law("a parameter without a gradient keeps its bits", applies=is_rule)
def missing_gradient(trial: Trial) -> str | None:
    for full, holed, gap in gapped(trial):
        after = holed.run()
        before = np.broadcast_to(after[gap.start - 1] if gap.start else flat(full.case.parameters), after[gap].shape)
        if not same_bits(after[gap], before):
            return first_difference(after[gap] != before, after[gap], before)
    return None


@law("each parameter is updated as if it were alone", applies=is_rule)
def parameters_are_independent(trial: Trial) -> str | None:
    """Leaves out steps with a missing gradient: how these are counted is for `missing_gradient_rests`."""
    together = trial.on(complete(trial.case))
    alone = [together.on(together.case.only([i])) for i in range(len(trial.case.parameters))]
    together.ahead(*alone)
    separate = np.concatenate([single.run() for single in alone], axis=1)
    return together.agrees(together.run(), separate)


@law("reversing the order of elements reverses the result", applies=is_elementwise_rule)
def permutation(trial: Trial) -> str | None:
    full = trial.on(largest(trial.case))
    turned = full.on(each(full.case, lambda array: array.reshape(-1)[::-1].reshape(array.shape).copy()))
    return full.against(turned, lambda after: after[:, ::-1])


@law("the shape of a parameter does not matter, only its elements", applies=is_elementwise_rule)
def reshaping(trial: Trial) -> str | None:
    """Compares columns with all parameters, and a square matrix and the weights of a convolution with a vector."""
    column = trial.against(trial.on(each(trial.case, lambda array: array.reshape(-1, 1))))
    full = largest(trial.case)
    if column is not None or not full.size:
        return column
    vector = trial.on(each(full, lambda array: np.resize(array, math.prod(FORMS[0]))))
    for form in FORMS:
        contradiction = vector.against(vector.on(each(vector.case, partial(np.reshape, shape=form))))
        if contradiction is not None:
            return behind(f"of shape {form}: ", contradiction)
    return None


@law("a parameter split in two gives the two parts of the result", applies=is_elementwise_rule)
def splitting(trial: Trial) -> str | None:
    whole = trial.on(largest(trial.case))
    return whole.against(whole.on(halved(whole.case)))


@law("a run resumed from its saved state continues bit for bit", applies=keeps_state)
def resuming(trial: Trial) -> str | None:
    """Of a rule, a second run is short and of many parameters, some of which have no state yet, with all options on.

    That one is held to the rounding bound alone: who saves a count may go on with a power for a running product.
    """
    contradiction = _resumed_otherwise(trial)
    if contradiction is not None or not is_rule(subject_of(trial.case)):
        return contradiction
    wide = next((other for other in map(trial.on, many(trial.case)) if other.offered), None)
    if wide is None:
        return None
    contradiction = _resumed_of_many(switched_on(wide, flags=True))
    return contradiction and behind(f"of {MANY} parameters, ", contradiction)


def _resumed_of_many(trial: Trial) -> str | None:
    """Compare as `_resumed_otherwise`; what a run raises that is not resumed is for the oracle's cases to show."""
    try:
        return _resumed_otherwise(trial, to_the_bit=False)
    except TargetFault:
        try:
            trial.run(anew=True)
        except TargetFault as fault:
            raise NotOffered from fault
        raise


def _resumed_otherwise(trial: Trial, *, to_the_bit: bool = True) -> str | None:
    """Compare a run with the one that is resumed in its middle; None where they agree or nothing can be saved."""
    if len(trial.case.grads) < 2:
        return None
    with watched(trial.guard):
        half = first_half(trial)
        if half is None:
            return None
        session, rows, state = half
        again = resumed(trial, rows[-1], state)
        second = islice(trial.case.steps, len(rows), None)
        calls = (partial(each.step, *step) for step in second for each in (session, again))
        results = (flat(after)[None] for after in in_turn(trial.target, calls))
        plain, other = rows, rows
        for a, b in zip(results, results, strict=True):
            if to_the_bit and not same_bits(a, b):
                return first_difference(a != b, a, b)
            plain, other = np.concatenate([plain, a]), np.concatenate([other, b])
    return None if to_the_bit else trial.agrees(plain, other)


def can_be_saved(run: Any) -> bool:
    """Whether a run offers its state, and to go on with one."""
    return hasattr(run, "state") and hasattr(run, "load")


def first_half(trial: Trial) -> tuple[Session, Array, State] | None:
    """Run the first half of a case; return the run, the parameters after its steps as rows, and the saved state.

    None where the target saves nothing.
    """
    session = Session(trial.target, trial.case)
    run: Any = session.run
    if not can_be_saved(run):
        return None
    steps = islice(trial.case.steps, len(trial.case.grads) // 2)
    rows = [flat(after) for after in in_turn(trial.target, (partial(session.step, *step) for step in steps))]
    return session, np.array(rows), {slot: [array.copy() for array in arrays] for slot, arrays in run.state().items()}


def resumed(trial: Trial, last: Array, state: State) -> Session:
    """Begin a run of a case with the parameters of a row and a saved state."""
    case = trial.case
    is_average = not is_rule(subject_of(case))  # which is started with what it averages, not with its averages
    start = case.parameters if is_average else tuple(map(np.copy, apart(last, case.parameters)))
    session = Session(trial.target, case.replace(parameters=start))
    session.run.load({slot: [array.copy() for array in arrays] for slot, arrays in state.items()})
    return session


@law("an infinite or NaN gradient touches its own element alone", applies=is_elementwise)
def nonfinite_gradients_stay(trial: Trial) -> str | None:
    for clean, poisoned, _, element in poisonings(trial):
        after, results = clean.run(), poisoned.run()
        results[:, element] = after[:, element]
        contradiction = clean.agrees(after, results)
        if contradiction is not None:
            return contradiction
    return None
