"""Laws that hold whatever the target computes."""

from __future__ import annotations

import math
from functools import partial
from itertools import cycle, islice

import numpy as np

from optimetry.conformance.laws.law import (
    Trial,
    exact_difference,
    is_elementwise,
    is_elementwise_rule,
    is_rule,
    keeps_state,
    law,
    prefixed,
)
from optimetry.conformance.laws.resumed import can_be_saved, played, resumed, resumed_trajectory, saved
from optimetry.conformance.laws.variations import (
    MANY,
    complete,
    gapped,
    halved,
    largest,
    many,
    other_options,
    poisonings,
    switched_on,
    with_options,
)
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.session import Session, in_turn, watched
from optimetry.reference.errors import TargetFault

FORMS = ((12, 12), (4, 3, 3, 4), (2, 3, 2, 3, 4))
"""The shapes of a square matrix and of the weights of two convolutions, of as many elements."""

TOGETHER = 5
"""The steps of two runs that are under way together."""


@law("two runs of the same case give the same bits")
def repeatable(trial: Trial) -> str | None:
    a, b = trial.run(anew=True), trial.run(anew=True)
    return exact_difference(a, b)


@law("what a run may change ends with it: a run in between changes no bit of the next")
def runs_are_independent(trial: Trial) -> str | None:
    fresh = trial.run(anew=True)
    trial.on(trial.case.each(np.negative)).run(anew=True)
    again = trial.run(anew=True)
    return exact_difference(fresh, again)


@law("a run is what it is alone, whatever runs beside it with other options", applies=is_rule)
def runs_side_by_side(trial: Trial) -> str | None:
    """Where runs can be saved, or the target says `Target.side_by_side`; the second run begins amid the first.

    Otherwise there may be one run at a time: `start` of a simple target returns the target itself.
    """
    target, case = trial.target, trial.case.upto(TOGETHER)
    beside = with_options(trial.on(case.each(np.negative)), other_options(case)).case
    with watched(trial.guard):
        runs = [Session(target, case)]
        if not can_be_saved(runs[0].run) and not getattr(target, "side_by_side", False):
            return None
        alone = [np.array(list(played(target, each.steps, Session(target, each)))) for each in (case, beside)]
        steps, half = iter(case.steps), len(case.grads) // 2
        rows = [list(played(target, islice(steps, half), runs[0])), []]
        runs.append(Session(target, beside))
        pairs = zip(steps, beside.steps, strict=False)
        calls = (partial(run.step, *step) for pair in pairs for run, step in zip(runs, pair, strict=True))
        for kept, after in zip(cycle(rows), in_turn(target, calls)):
            kept.append(flat(after))
    for prefix, plain, together in zip(("", "of the second run, "), alone, rows, strict=True):
        if (contradiction := exact_difference(plain[: len(together)], np.array(together))) is not None:
            return prefixed(prefix, contradiction)
    return None


@law("a parameter without a gradient keeps its bits", applies=is_rule)
def missing_gradient(trial: Trial) -> str | None:
    for full, holed, gap in gapped(trial):
        after = holed.run()
        before = np.broadcast_to(after[gap.start - 1] if gap.start else flat(full.case.parameters), after[gap].shape)
        if (contradiction := exact_difference(after[gap], before)) is not None:
            return contradiction
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
    turned = full.on(full.case.each(lambda array: array.reshape(-1)[::-1].reshape(array.shape).copy()))
    return full.against(turned, lambda after: after[:, ::-1])


@law("the shape of a parameter does not matter, only its elements", applies=is_elementwise_rule)
def reshaping(trial: Trial) -> str | None:
    """Compares columns with all parameters, and a square matrix and the weights of convolutions with a vector."""
    column = trial.against(trial.on(trial.case.each(lambda array: array.reshape(-1, 1))))
    full = largest(trial.case)
    if column is not None or not full.size:
        return column
    vector = trial.on(full.each(lambda array: np.resize(array, math.prod(FORMS[0]))))
    for form in FORMS:
        if (contradiction := vector.against(vector.on(vector.case.each(partial(np.reshape, shape=form))))) is not None:
            return prefixed(f"of shape {form}: ", contradiction)
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
    contradiction = _resumed_to_the_bit(trial)
    if contradiction is not None or not is_rule(subject_of(trial.case)):
        return contradiction
    wide = next((other for other in map(trial.on, many(trial.case)) if other.offered), None)
    if wide is None:
        return None
    wide = switched_on(wide, flags=True)
    try:
        plain = wide.run()
    except TargetFault:
        return None  # which is for the oracle's cases to show
    after = resumed_trajectory(wide, len(wide.case.grads) // 2)
    contradiction = None if after is None else wide.agrees(plain, after)
    return contradiction and prefixed(f"of {MANY} parameters, ", contradiction)


def _resumed_to_the_bit(trial: Trial) -> str | None:
    """Compare a run with the one that is resumed in its middle; None where they agree or nothing can be saved.

    So is one that goes on from what the resumed run saves before any step, if that is as much. At last, what the run
    saves a second time is what it saved first only if that of the others is.
    """
    half = len(trial.case.grads) // 2
    if not half:
        return None
    with watched(trial.guard):
        begun = saved(trial, half)
        if begun is None:
            return None
        rest, again = islice(trial.case.steps, half, None), resumed(trial, begun)
        saved_again = begun.with_state_of(again)
        # Paddle 1.8 has no slots between `set_dict` and the next step, and so saves none.
        anew = resumed(trial, saved_again if saved_again.has_slots_of(begun) else begun)
        rows = (row[None] for row in played(trial.target, rest, begun.session, again, anew))
        for plain, loaded, loaded_anew in zip(rows, rows, rows, strict=True):
            if (contradiction := exact_difference(plain, loaded)) is not None:
                return contradiction
            if (contradiction := exact_difference(plain, loaded_anew)) is not None:
                return prefixed("saved and loaded once more, ", contradiction)
        own, other = begun.with_state_of(begun.session), begun.with_state_of(anew)
    if begun.has_state_of(own) and not begun.has_state_of(other):
        return "a run saves, a second time and some steps later, what it saved first"
    return None


@law("an infinite or NaN gradient touches its own element alone", applies=is_elementwise)
def nonfinite_gradients_stay(trial: Trial) -> str | None:
    for clean, poisoned, _, element in poisonings(trial):
        after, results = clean.run(), poisoned.run()
        results[:, element] = after[:, element]
        if (contradiction := clean.agrees(after, results)) is not None:
            return contradiction
    return None
