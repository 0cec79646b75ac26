"""Faulty averages of parameters, entered with the other wrappers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage, ModelAverage
from optimetry.conformance.targets.numpy.wrappers import AverageFeed
from optimetry.reference.averaging.window import FOLD, WindowAverage


class CorrectedOnce(ExponentialMovingAverage):
    """Corrects every update as if it were the first."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``e / (1 - d)``."""
        _, state = super().feed(fed, parameters, state)
        return [e / (1 - self.decay) for e in state[1].biased], state


class SkipsNaN(ExponentialMovingAverage):
    """Averages as if parameters that are NaN had not moved from 0."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Take 0 for NaN."""
        return super().feed([np.where(np.isnan(array), 0.0, array) for array in fed], parameters, state)


class RestoresAverages(AverageFeed):
    """Returns the averages from ``restore``."""

    def restore(self) -> list[Array]:
        """The averages."""
        return [array.copy() for array in self.averages]


class SavesTheApplied(AverageFeed):
    """Saves the averages as parameters in a second ``apply``, as ``paddle.incubate.ModelAverage`` 3.3."""

    def apply(self) -> list[Array]:
        """Save the parameters, even if they are averages."""
        self.training = self.inside
        return super().apply()


class AverageOfTheAverage(AverageFeed):
    """Changes the average by applying it, as PaddlePaddle 1.8."""

    def apply(self) -> list[Array]:
        """Keep the correction in the average."""
        updates, held = self._state
        with np.errstate(all="ignore"):
            corrected = held._replace(biased=[e / (1 - held.product) for e in held.biased])
        self._state = updates, corrected
        return super().apply()


class ForgetsTheProduct(AverageFeed):
    """Loses the bias correction in a saved state."""

    def load(self, state: dict[str, list[Array]]) -> None:
        """Load with a product of decays of 1."""
        super().load(state)
        updates, held = self._state
        self._state = updates, held._replace(product=1.0)


class _LosesTheSum(WindowAverage):
    def update(self, state: Any, parameters: Sequence[Array]) -> Any:
        after = super().update(state, parameters)
        return after._replace(folded=[0 * x for x in after.folded]) if after.updates % FOLD == 0 else after


class _LongerOfBoth(WindowAverage):
    def is_full(self, updates: int, in_window: int) -> bool:
        return in_window >= self.minimum and in_window >= max(self.maximum, updates * self.rate)


class FoldLosesTheSum(ModelAverage):
    """Loses the folded sum."""

    @property
    def average(self) -> WindowAverage:
        """With the fault."""
        return _LosesTheSum(self.average_window_rate, self.min_average_window, self.max_average_window)


class LongerWindows(ModelAverage):
    """Takes the larger of two limits in place of the smaller."""

    @property
    def average(self) -> WindowAverage:
        """With the fault."""
        return _LongerOfBoth(self.average_window_rate, self.min_average_window, self.max_average_window)
