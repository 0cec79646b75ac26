"""Runs a target on a case in two halves: the second goes on from what the first has saved."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import Trial, keeps_state
from optimetry.conformance.laws.universal import first_half, resumed
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, in_turn, watched


def resumed_trajectory(target: Target, case: Case, guard: Guard) -> Array | None:
    """Return the results after every step of a run that is saved and resumed behind half of its steps.

    Args:
        target: one engine.
        case: what it is fed.
        guard: what watches over both halves as over one run.

    Returns:
        An array as of `trajectory`; None where the case has no two steps, or the target saves nothing.

    Raises:
        TargetFault: as for `trajectory`.
    """
    if not keeps_state(subject_of(case)) or len(case.grads) < 2:
        return None
    trial = Trial(target, case, guard)
    with watched(guard):
        half = first_half(trial)
        if half is None:
            return None
        _, rows, state = half
        again = resumed(trial, rows[-1], state)
        calls = (partial(again.step, *step) for step in islice(case.steps, len(rows), None))
        return np.array([*rows, *(flat(after) for after in in_turn(target, calls))])
