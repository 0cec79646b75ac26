"""``paddle.optimizer.lr``: schedules, which the caller advances by ``step()``."""

from __future__ import annotations

from typing import Any

from optimetry.reference import schedulers
from optimetry.reference.schedulers import LRScheduler, MultiStepDecay, NoamDecay, StepDecay

__all__ = ["LRScheduler", "MultiStepDecay", "NoamDecay", "PiecewiseDecay", "StepDecay"]


class PiecewiseDecay(schedulers.PiecewiseDecay):
    """`optimetry.reference.PiecewiseDecay`, advanced by the caller, as paddle's is."""

    def __init__(self, boundaries: Any, values: Any, **options: Any) -> None:
        super().__init__(boundaries, values, **{"automatic": False} | options)
