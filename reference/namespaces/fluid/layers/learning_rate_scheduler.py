"""``fluid.layers.learning_rate_scheduler``: schedules, a variable of the program, or inside ``guard()`` a scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimetry.fluid.dygraph.mode import enabled
from optimetry.reference.programs.layers import decay_step_counter as _decay_step_counter
from optimetry.reference.programs.layers import scheduled
from optimetry.reference.schedulers import LRScheduler, NoamDecay, PiecewiseDecay

__all__ = ["_decay_step_counter", "noam_decay", "piecewise_decay"]


def noam_decay(d_model: float, warmup_steps: int, learning_rate: float = 1.0) -> Any:
    """The rate of `NoamDecay`, from step 1, which every step advances by itself."""
    return _made(NoamDecay(d_model, warmup_steps, learning_rate, begin=1, automatic=True))


def piecewise_decay(boundaries: Sequence[int], values: Sequence[float]) -> Any:
    """The rate of `PiecewiseDecay`, from step 0, which every step advances by itself."""
    return _made(PiecewiseDecay(boundaries, values))


def _made(schedule: LRScheduler) -> Any:
    return schedule if enabled() else scheduled(schedule)
