"""Defects that depend on the size or shape of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import computing_as, hooked
from optimetry.reference.precision import working
from optimetry.reference.rule import State
from optimetry.reference.rules.lars_momentum import LarsMomentum

LANES = 16


def _tail_of_one(before: Array, after: Array) -> Array:
    """Vectors of sixteen leave a single element over: it is moved twice as far."""
    if after.size % LANES != 1:
        return after
    moved = np.array(after)
    with np.errstate(all="ignore"):
        moved.flat[-1] = after.flat[-1] + (after.flat[-1] - before.flat[-1])
    return moved


class _RowByRow(LarsMomentum):
    """Gives each row of a matrix its own norms."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        if param.ndim < 2 or param.size == 0:
            return super().update(param, grad, state, lr, t)
        params, velocities = [], []
        for w, g, v in zip(param, grad, state.velocity, strict=True):
            updated, after = self.update(w, g, State(velocity=v), lr, t)
            params.append(np.asarray(updated))
            velocities.append(np.asarray(after.velocity))
        return working(np.stack(params)), State(velocity=working(np.stack(velocities)))


enter(
    Fault(
        name="tail_of_one_element",
        optimizer="sgd",
        defect="where vectors of sixteen leave one element over, it is updated by the loop and by the tail",
        start=hooked(parameter=_tail_of_one),
    ),
    Fault(
        name="norms_of_rows",
        optimizer="lars_momentum",
        defect="each row of a matrix has its own norms, as in adaptive clipping by units",
        start=computing_as(_RowByRow),
        rejected_by="norms_of_any_shape",
    ),
)
