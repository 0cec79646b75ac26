"""Runs a target on a case in two parts: the second goes on from what the first has saved."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from optimetry.conformance.laws.law import Trial, is_rule, keeps_state
from optimetry.conformance.numerics.arrays import Array, apart, flat
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.session import Session, in_turn, watched

State = Mapping[str, list[Array]]
"""What a run has saved: one array per parameter under each slot name."""


def can_be_saved(run: Any) -> bool:
    """Whether a run offers its state, and to go on with one."""
    return hasattr(run, "state") and hasattr(run, "load")


def first_part(trial: Trial, steps: int) -> tuple[Session, Array, State] | None:
    """Run the first steps of a case; return the run, the parameters after these steps as rows, and the saved state.

    None where the target saves nothing.
    """
    session = Session(trial.target, trial.case)
    run: Any = session.run
    if not can_be_saved(run):
        return None
    calls = (partial(session.step, *step) for step in islice(trial.case.steps, steps))
    rows = [flat(after) for after in in_turn(trial.target, calls)]
    return session, np.array(rows), {slot: [array.copy() for array in arrays] for slot, arrays in run.state().items()}


def resumed(trial: Trial, last: Array, state: State) -> Session:
    """Begin a run of a case with the parameters of a row and a saved state."""
    case = trial.case
    is_average = not is_rule(subject_of(case))  # which is started with what it averages, not with its averages
    start = case.parameters if is_average else tuple(map(np.copy, apart(last, case.parameters)))
    session = Session(trial.target, case.replace(parameters=start))
    session.run.load({slot: [array.copy() for array in arrays] for slot, arrays in state.items()})
    return session


def resumed_trajectory(trial: Trial, steps: int) -> Array | None:
    """Return the results after every step of a run that is saved and resumed behind so many.

    The guard watches over both parts as over one run.

    Returns:
        An array as of `trajectory`; None where nothing is saved.

    Raises:
        TargetFault: as for `trajectory`.
    """
    if not keeps_state(subject_of(trial.case)) or not 0 < steps < len(trial.case.grads):
        return None
    with watched(trial.guard):
        begun = first_part(trial, steps)
        if begun is None:
            return None
        _, rows, state = begun
        again = resumed(trial, rows[-1], state)
        calls = (partial(again.step, *step) for step in islice(trial.case.steps, steps, None))
        return np.array([*rows, *(flat(after) for after in in_turn(trial.target, calls))])
