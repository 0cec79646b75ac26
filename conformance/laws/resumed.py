"""Runs a target on a case in two parts: the second goes on from what the first has saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Grads
from optimetry.conformance.laws.law import Trial, is_rule, keeps_state
from optimetry.conformance.numerics.arrays import Array, apart, flat, same_bits
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import STRETCH, Session, in_turn, watched

State = Mapping[str, list[Array]]
"""What a run has saved: one array per parameter under each slot name."""


def can_be_saved(run: Any) -> bool:
    """Whether a run offers its state, and to go on with one."""
    return hasattr(run, "state") and hasattr(run, "load")


@dataclass(frozen=True)
class Saved:
    """A run that was saved after some steps of a case.

    Attributes:
        session: the run itself, which can go on.
        rows: the results of its steps, shape (steps, elements).
        state: what it has saved.
    """

    session: Session
    rows: Array
    state: State

    def with_state_of(self, session: Session) -> Saved:
        """Return the same with what another run saves, or this one later."""
        run: Any = session.run
        return replace(self, session=session, state=_copied(run.state()))

    def has_slots_of(self, other: Saved) -> bool:
        """Whether both have saved arrays of the same shapes."""
        return self.state.keys() == other.state.keys() and all(
            [array.shape for array in arrays] == [array.shape for array in other.state[slot]]
            for slot, arrays in self.state.items()
        )

    def has_state_of(self, other: Saved) -> bool:
        """Whether both have saved the same bits."""
        return self.state.keys() == other.state.keys() and all(
            len(arrays) == len(other.state[slot]) and all(map(same_bits, arrays, other.state[slot]))
            for slot, arrays in self.state.items()
        )


def saved(trial: Trial, steps: int) -> Saved | None:
    """Run the first steps of a case and save the run; None where the target saves nothing."""
    session = Session(trial.target, trial.case)
    run: Any = session.run
    if not can_be_saved(run):
        return None
    rows = np.array(list(played(trial.target, islice(trial.case.steps, steps), session)))
    return Saved(session, rows, _copied(run.state()))


def resumed(trial: Trial, begun: Saved) -> Session:
    """Begin a run of a case where another was saved, with the parameters and the state of that one."""
    case = trial.case
    is_average = not is_rule(subject_of(case))  # which is started with what it averages, not with its averages
    start = case.parameters if is_average else tuple(map(np.copy, apart(begun.rows[-1], case.parameters)))
    session = Session(trial.target, case.replace(parameters=start))
    session.run.load(_copied(begun.state))
    return session


def continued(trial: Trial, begun: Saved) -> Array:
    """Run the rest of a case from a saved state; return the results of all steps, shape (steps, elements)."""
    rest = islice(trial.case.steps, len(begun.rows), None)
    return np.array([*begun.rows, *played(trial.target, rest, resumed(trial, begun))])


def played(target: Target, steps: Iterable[tuple[Grads, float]], *runs: Session) -> Iterator[Array]:
    """Take steps one after the other, each in all of these runs; yield every result as a row."""
    yield from map(flat, in_turn(target, (partial(run.step, *step) for step in steps for run in runs)))


def resumed_trajectory(trial: Trial, steps: int) -> Array | None:
    """Return the results after every step of a run that is saved and resumed behind so many.

    The guard watches over each part as over a run of its own, and over each further `STRETCH` of a longer one.

    Returns:
        An array as of `trajectory`; None where nothing is saved.

    Raises:
        TargetFault: as for `trajectory`.
    """
    target, case = trial.target, trial.case
    if not keeps_state(subject_of(case)) or not 0 < steps < len(case.grads):
        return None
    session, rows = None, list[Array]()
    for first, end in pairwise(sorted({*range(0, len(case.grads), STRETCH), steps, len(case.grads)})):
        with watched(trial.guard):
            session = session or Session(target, case)
            if not can_be_saved(session.run):
                return None
            rows += played(target, islice(case.steps, first, end), session)
            if end == steps:
                run: Any = session.run
                session = resumed(trial, Saved(session, np.array(rows), _copied(run.state())))
    return np.array(rows)


def _copied(state: State) -> State:
    return {slot: [np.array(array) for array in arrays] for slot, arrays in state.items()}
