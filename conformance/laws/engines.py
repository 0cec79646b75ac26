"""Laws of a target with several engines: they compute the same, and each continues what another has saved.

An engine breaks such a law if it differs from most of the others; where the two sides are equal in number, if it is not
on the side of the engine that the target lists first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from optimetry.conformance.harness.python_harness import engine_name
from optimetry.conformance.laws.law import NotOffered, Trial, keeps_state, law, prefixed
from optimetry.conformance.laws.resumed import Saved, State, continued, saved
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.targets.session import watched
from optimetry.reference.errors import TargetFault

Differs = Callable[[Trial, Trial], str | None]
"""Describes how two engines differ on one case, None where they agree; raises `NotOffered` where nothing is known."""


@law("the engines of one target agree within twice the bound", universal=False, symptom=True)
def engines_agree(trial: Trial) -> str | None:
    """Judges only an engine that does not compute the formula: one that does is right, whatever the others do."""
    if len(trial.engines) < 2 or explains(trial.run(), trial.formula(trial.case), trial.case.form):
        return None
    return _departing(trial, _returning_otherwise)


@law("what one engine of a target has saved is continued by another", applies=keeps_state)
def engines_continue_each_other(trial: Trial) -> str | None:
    """Where both return the same in a run of their own, and save slots of the same names, shapes and dtypes."""
    several = len(trial.engines) > 1 and len(trial.case.grads) > 1
    return _departing(trial, _continuing_otherwise) if several else None


def _departing(trial: Trial, differs: Differs) -> str | None:
    """Describe how an engine departs from most of the others; None if it does not."""
    alike, apart = [trial.target], dict[str, str]()
    for other in (engine for engine in trial.engines if engine is not trial.target):
        try:
            contradiction = differs(trial, trial.with_engine(other))
        except NotOffered:
            continue
        if contradiction is None:
            alike.append(other)
        else:
            apart[engine_name(other)] = contradiction
    first_listed = next(engine for engine in trial.engines if engine in alike or engine_name(engine) in apart)
    if len(alike) > len(apart) or (len(alike) == len(apart) and first_listed in alike):
        return None
    names = f"engine {engine_name(trial.target)} departs from {' and '.join(apart)}: "
    return prefixed(names, next(iter(apart.values())))


def _returning_otherwise(trial: Trial, other: Trial) -> str | None:
    """Compare the runs of two engines; a fault of one says nothing of the other."""
    try:
        return trial.agrees(trial.run(), other.run())
    except TargetFault as fault:
        raise NotOffered from fault


def _continuing_otherwise(trial: Trial, other: Trial) -> str | None:
    """Compare the run of an engine with those that go from one of the two engines to the other in the middle."""
    if _returning_otherwise(trial, other) is not None:
        raise NotOffered
    try:
        mine, theirs = _half(trial), _half(other)
    except TargetFault as fault:
        raise NotOffered from fault
    if _form(mine.state) != _form(theirs.state):
        raise NotOffered
    for loader, begun in ((trial, theirs), (other, mine)):
        try:
            with watched(loader.guard):
                whole = continued(loader, begun)
        except TargetFault as fault:
            return str(fault)
        if (contradiction := trial.agrees(trial.run(), whole)) is not None:
            return contradiction
    return None


def _form(state: State) -> dict[str, Any]:
    """Return the slots with shapes and dtypes: states that share them can be exchanged between engines."""
    return {slot: [(array.shape, array.dtype.name) for array in arrays] for slot, arrays in state.items()}


def _half(trial: Trial) -> Saved:
    """Run the first half of a case and save the run.

    Raises:
        NotOffered: the engine saves nothing.
    """
    with watched(trial.guard):
        begun = saved(trial, len(trial.case.grads) // 2)
    if begun is None:
        raise NotOffered
    return begun
