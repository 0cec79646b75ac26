"""Declares the averages of parameters; the formulas are those of `optimetry.reference.averaging`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, wrapper
from optimetry.reference.averaging.exponential import ExponentialAverage
from optimetry.reference.averaging.window import WindowAverage
from optimetry.reference.declaration import count, flag, hyper
from optimetry.reference.rule import Array

SCHEDULE = "schedule"
"""What the decays that a schedule gives are called among the numbers of an average."""


@wrapper
@dataclass(frozen=True, kw_only=True)
class ExponentialMovingAverage(Wrapper):
    """``e = d*e + (1-d)*w`` from 0, given as ``e / (1 - prod d)``.

    Where the decay is scheduled, the number of the update, from 0, is the step of the schedule.

    Documented: fluid.optimizer.ExponentialMovingAverage (page 000).
    """

    decay: float = hyper(0.999, "[0, 1)", "the largest decay", corners=(0.999, 0.9, 0.5, 0.0))
    scheduled: bool = flag(False, "whether the decay is min(decay, (1 + s) / (10 + s))")

    name = "exponential_moving_average"
    averages = True
    own_numbers = (SCHEDULE,)

    @property
    def average(self) -> ExponentialAverage:
        """The documented numbers."""
        return ExponentialAverage(self.decay)

    def first(self, fed: Sequence[Array]) -> Any:
        """No update yet."""
        return 0, self.average.start(fed)

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """One update, and what `apply` would put in."""
        updates, held = state or self.first(fed)
        held = self.average.update(held, fed, updates if self.scheduled else None)
        return self.average.averages(held), (updates + 1, held)


@wrapper
@dataclass(frozen=True, kw_only=True)
class ModelAverage(Wrapper):
    """The mean over the current and the previous window of updates.

    Documented: fluid.optimizer.ModelAverage (page 000).
    """

    average_window_rate: float = hyper(
        None, "[0, inf)", "the window as a share of all updates", corners=(0.15, 0.5, 1.0, 0.0)
    )
    min_average_window: int = count(10000, "[1, inf)", "the least number of updates in a window", corners=(1, 2, 4))
    max_average_window: int = count(10000, "[1, inf)", "no window need be longer", corners=(3, 5, 8))

    name = "model_average"
    averages = True
    adds_up = True
    decides = ("average_window_rate",)

    @classmethod
    def consistent(cls, hyper: dict[str, Any]) -> dict[str, Any]:
        """The smaller window as the least one."""
        low, high = sorted((hyper["min_average_window"], hyper["max_average_window"]))
        return {**hyper, "min_average_window": low, "max_average_window": high}

    @property
    def average(self) -> WindowAverage:
        """The documented numbers."""
        return WindowAverage(self.average_window_rate, self.min_average_window, self.max_average_window)

    def first(self, fed: Sequence[Array]) -> Any:
        """Two empty windows."""
        return self.average.start(fed)

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """One update, and what `apply` would put in."""
        held = self.average.update(state or self.first(fed), fed)
        return self.result(held), held

    def result(self, state: Any) -> list[Array]:
        """What `apply` would put in after an update."""
        return self.average.averages(state)
