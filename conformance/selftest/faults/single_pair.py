"""A fault in one pair of bits, which no number of drawn cases is likely to meet: `optimetry certify` finds it.

It is not among `FAULTS`, all of which `optimetry check` must notice.
"""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun

PARAMETER, GRADIENT = 0x3F81, 0x0001
"""The bits of the pair: 1.0078125 and the smallest subnormal in bfloat16."""


class _SinglePairRun(RuleRun):
    """Returns zero for one pair of a parameter and a gradient."""

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        before = [np.array(param) for param in self.training.parameters]
        after = super().step(grads, learning_rate)
        for param, grad, result in zip(before, grads, after, strict=True):
            if grad is not None and param.dtype.itemsize == 2:
                result[(param.view(np.uint16) == PARAMETER) & (grad.view(np.uint16) == GRADIENT)] = 0
        return after


SINGLE_PAIR = Fault(
    name="single_pair",
    optimizer="sgd",
    defect="one pair of a parameter and a gradient gives zero: an entry of a table, or a corner of a conversion",
    start=run_as(_SinglePairRun),
    dtypes=("bfloat16",),
)

target = SINGLE_PAIR.target()
