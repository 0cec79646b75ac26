"""The averages of parameters; the numbers are those of `optimetry.reference.averaging`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, variant, wrapper
from optimetry.reference.averaging.exponential import Decayed, ExponentialAverage
from optimetry.reference.averaging.window import WindowAverage
from optimetry.reference.rule import Array, count, flag, hyper


@wrapper
@dataclass(frozen=True, kw_only=True)
class ExponentialMovingAverage(Wrapper):
    """``e = d*e + (1-d)*w`` from 0, given as ``e / (1 - prod d)``.

    Where the decay is scheduled, the number of the update, from 0, is the step of the schedule.
    """

    decay: float = hyper(0.999, "[0, 1)", "the largest decay", corners=(0.999, 0.9, 0.5, 0.0))
    scheduled: bool = flag(False, "whether the decay is min(decay, (1 + s) / (10 + s))")

    name = "exponential_moving_average"
    averages = True

    @property
    def average(self) -> ExponentialAverage:
        """The documented numbers."""
        return ExponentialAverage(self.decay)

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """One update, and what `apply` would put in."""
        updates, held = state or (0, self.average.start(fed))
        held = self.average.update(held, fed, updates if self.scheduled else None)
        return self.average.averages(held), (updates + 1, held)


@wrapper
@dataclass(frozen=True, kw_only=True)
class ModelAverage(Wrapper):
    """The mean over the current and the previous window of updates."""

    average_window_rate: float = hyper(
        None, "[0, inf)", "the window as a share of all updates", corners=(0.15, 0.5, 1.0, 0.0)
    )
    min_average_window: int = count(10000, "[1, inf)", "the least number of updates in a window", corners=(1, 2, 4))
    max_average_window: int = count(10000, "[1, inf)", "no window need be longer", corners=(3, 5, 8))

    name = "model_average"
    averages = True

    def lifted(self, lift: Any) -> Any:
        """This wrapper itself: the rate decides when a window is full, and enters no number."""
        return self

    @property
    def average(self) -> WindowAverage:
        """The documented numbers."""
        return WindowAverage(self.average_window_rate, self.min_average_window, self.max_average_window)

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """One update, and what `apply` would put in."""
        held = self.average.update(state or self.average.start(fed), fed)
        return self.average.averages(held), held


@variant("starts_at_first", "e = w in the first update, and e is not corrected", "torch AveragedModel, Keras use_ema")
@dataclass(frozen=True, kw_only=True)
class StartsAtFirst(ExponentialMovingAverage):
    """The first value counts for more than the documents say."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Nothing starts at zero, so nothing is corrected."""
        if state is None:
            return list(fed), (1, Decayed(0.0, list(fed)))
        updates, held = state
        held = self.average.update(held, fed, updates if self.scheduled else None)
        return list(held.biased), (updates + 1, held)


@variant(
    "starts_at_initial", "e starts at the parameters before training, and is not corrected", "hand-written averages"
)
@dataclass(frozen=True, kw_only=True)
class StartsAtInitial(StartsAtFirst):
    """The value before training counts, too."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """As if the parameters before training were the first."""
        return super().feed(fed, parameters, state or (0, Decayed(0.0, list(parameters))))


@variant("not_corrected", "e, not e / (1 - prod d)", "optax.ema with debias=False")
@dataclass(frozen=True, kw_only=True)
class NotCorrected(ExponentialMovingAverage):
    """Biased towards zero."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The average from 0 as it is."""
        _, state = super().feed(fed, parameters, state)
        return list(state[1].biased), state


@variant("corrected_by_power", "e / (1 - d_t^t), with the decay of the last update", "PaddlePaddle 3.3")
@dataclass(frozen=True, kw_only=True)
class CorrectedByPower(ExponentialMovingAverage):
    """Right for a constant decay alone."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The power of one decay in place of the product of all."""
        _, state = super().feed(fed, parameters, state)
        updates, held = state
        decay = self.average.decay_at(updates - 1 if self.scheduled else None)
        return [e / (1 - np.power(decay, updates)) for e in held.biased], state


class _Increments(ExponentialAverage):
    """Forms each average from its change."""

    def update(self, state: Decayed, parameters: Sequence[Array], thres_steps: int | None = None) -> Decayed:
        """``e + (1-d)*(w-e)``."""
        decay = self.decay_at(thres_steps)
        biased = [e + (1 - decay) * (w - e) for e, w in zip(state.biased, parameters, strict=True)]
        return Decayed(decay * state.product, biased)


@variant("incremental", "e += (1-d)*(w - e): rounded like the larger of w and e", "hand-written averages")
@dataclass(frozen=True, kw_only=True)
class Incremental(ExponentialMovingAverage):
    """The same number, but for cancellation."""

    @property
    def average(self) -> ExponentialAverage:
        """The same averages by their changes."""
        return _Increments(self.decay)


@variant("current_window", "the mean over the current window alone", "hand-written averages")
@dataclass(frozen=True, kw_only=True)
class CurrentWindow(ModelAverage):
    """Zero over zero right after a window has been closed."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The previous window is forgotten."""
        _, held = super().feed(fed, parameters, state)
        return [(a + b) / float(held.in_window) for a, b in zip(held.recent, held.folded, strict=True)], held


class _WholeWindows(WindowAverage):
    """The length of a window is cut to a whole number."""

    def is_full(self, updates: int, in_window: int) -> bool:
        """As with integers of C."""
        return in_window >= self.minimum and in_window >= min(self.maximum, math.floor(updates * self.rate))


@variant("whole_windows", "n >= min(max, int(updates*rate)): the window's length is cut", "PaddlePaddle 3.3")
@dataclass(frozen=True, kw_only=True)
class WholeWindows(ModelAverage):
    """A window is closed up to one update earlier."""

    @property
    def average(self) -> WindowAverage:
        """The same numbers over other windows."""
        return _WholeWindows(self.average_window_rate, self.min_average_window, self.max_average_window)
