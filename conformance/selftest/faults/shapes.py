"""Defects that depend on the size of a tensor."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import hooked

LANES = 16


def _tail_of_one(before: Array, after: Array) -> Array:
    """Vectors of sixteen leave a single element over: it is moved twice as far."""
    if after.size % LANES != 1:
        return after
    moved = np.array(after)
    with np.errstate(all="ignore"):
        moved.flat[-1] = after.flat[-1] + (after.flat[-1] - before.flat[-1])
    return moved


enter(
    Fault(
        name="tail_of_one_element",
        optimizer="sgd",
        defect="where vectors of sixteen leave one element over, it is updated by the loop and by the tail",
        start=hooked(parameter=_tail_of_one),
    )
)
