"""Averages of parameters that go by the documented names and differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, declare
from optimetry.conformance.numerics.arithmetic import incremented
from optimetry.conformance.subjects.wrappers.averages import SCHEDULE, ExponentialMovingAverage, ModelAverage
from optimetry.reference.averaging.exponential import Decayed, ExponentialAverage
from optimetry.reference.averaging.window import WindowAverage
from optimetry.reference.rule import Array


def _as_given(number: float) -> Any:
    return number


@dataclass(frozen=True)
class _Average(ExponentialAverage):
    """Holds the decays of its schedule like the largest one.

    Attributes:
        held: makes such a decay the number that it is held as.
    """

    held: Callable[[float], Any] = _as_given

    def scheduled(self, thres_steps: int) -> Any:
        return self.held(super().scheduled(thres_steps))


class _Increments(_Average):
    """Forms each average as an increment."""

    def update(self, state: Decayed, parameters: Sequence[Array], thres_steps: int | None = None) -> Decayed:
        decay = self.decay_at(thres_steps)
        pairs = zip(state.biased, parameters, strict=True)
        return Decayed(decay * state.product, [incremented(e, 1 - decay, w) for e, w in pairs])


@dataclass(frozen=True, kw_only=True)
class RoundedAverage(ExponentialMovingAverage):
    """The documented average, with a choice of how it is rounded: as documented, or as an increment.

    Attributes:
        held: makes a decay of the schedule the number that it is held as.
    """

    incremental_moments: bool = False
    held: Callable[[float], Any] = _as_given

    @property
    def average(self) -> ExponentialAverage:
        kind = _Increments if self.incremental_moments else _Average
        return kind(self.decay, self.held)

    def lifted(self, lift: Callable[[str, float], Any]) -> Self:
        """The same with each real number replaced, the decays of the schedule among them."""
        other, before = super().lifted(lift), self.held
        object.__setattr__(other, "held", lambda number: lift(SCHEDULE, before(number)))
        return other


class StartsAtFirst(RoundedAverage):
    """Starts at the first value, which weighs more than documented; nothing starts at zero, so nothing is corrected.

    Where averages are formed as increments, the first may be one: the value before training plus what lies between.
    """

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        if state is None:
            first = list(fed)
            if self.incremental_moments:
                first = [e + (w - e) for e, w in zip(parameters, fed, strict=True)]
            return first, (1, Decayed(0.0, first))
        updates, held = state
        held = self.average.update(held, fed, updates if self.scheduled else None)
        return list(held.biased), (updates + 1, held)


class StartsAtInitial(StartsAtFirst):
    """Starts at the value before training, as if it were the first."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return super().feed(fed, parameters, state or (0, Decayed(0.0, list(parameters))))


class NotCorrected(RoundedAverage):
    """Keeps the bias of an average that starts at 0."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        _, state = super().feed(fed, parameters, state)
        return list(state[1].biased), state


class CorrectedByPower(RoundedAverage):
    """Corrects by the power of one decay in place of the product of all: right for a constant decay alone."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        _, state = super().feed(fed, parameters, state)
        updates, held = state
        decay = self.average.decay_at(updates - 1 if self.scheduled else None)
        return [e / (1 - np.power(decay, updates)) for e in held.biased], state


class CorrectedWithEpsilon(RoundedAverage):
    """Adds an epsilon to the correction, which is not quite 1/(1 - d) in the first update."""

    epsilon: ClassVar[float] = 1e-6  # not a documented hyperparameter: the default of Objax

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        _, state = super().feed(fed, parameters, state)
        _, held = state
        return [e / (1 - (1 - self.epsilon) * held.product) for e in held.biased], state


class ScheduledFromOne(RoundedAverage):
    """Numbers updates from 1 in the schedule of the decay, and keeps the bias of an average that starts at 0."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        updates, held = state or (0, self.average.start(fed))
        held = self.average.update(held, fed, updates + 1 if self.scheduled else None)
        return list(held.biased), (updates + 1, held)


class StartsAtInitialScheduledFromOne(ScheduledFromOne):
    """Starts at the value before training, and numbers updates from 1: the start is update 0 of the schedule."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return super().feed(fed, parameters, state or (0, Decayed(0.0, list(parameters))))


class CurrentWindow(ModelAverage):
    """Ignores the previous window: zero over zero right after a window has been closed."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        _, held = super().feed(fed, parameters, state)
        return [(a + b) / float(held.in_window) for a, b in zip(held.recent, held.folded, strict=True)], held


class _WholeWindows(WindowAverage):
    """Truncates the length of a window to a whole number, as integer arithmetic does."""

    def is_full(self, updates: int, in_window: int) -> bool:
        return in_window >= self.minimum and in_window >= min(self.maximum, math.floor(updates * self.rate))


class WholeWindows(ModelAverage):
    """Closes a window up to one update earlier."""

    @property
    def average(self) -> WindowAverage:
        return _WholeWindows(self.average_window_rate, self.min_average_window, self.max_average_window)


declare(
    Dialect(
        name="starts_at_first",
        family=StartsAtFirst,
        origin="torch AveragedModel, Keras use_ema",
        reference="torch/optim/swa_utils.py; keras/src/optimizers/base_optimizer.py",
        difference="e = w in the first update, and e is not corrected",
    ),
    Dialect(
        name="starts_at_initial",
        family=StartsAtInitial,
        origin="hand-written averages",
        difference="e starts at the parameters before training, and is not corrected",
    ),
    Dialect(
        name="not_corrected",
        family=NotCorrected,
        origin="optax.ema with debias=False",
        reference="optax/transforms/_accumulation.py, ema",
        difference="e, not e / (1 - prod d)",
    ),
    Dialect(
        name="scheduled_from_one",
        family=ScheduledFromOne,
        origin="Thinc, the averages of spaCy's training",
        reference="thinc/backends/ops.py, Ops.update_averages",
        difference="d = min(decay, (1 + s) / (10 + s)) with s from 1; e, not e / (1 - prod d)",
    ),
    Dialect(
        name="starts_at_initial_scheduled_from_one",
        family=StartsAtInitialScheduledFromOne,
        origin="torch-ema; LitEma of latent diffusion",
        reference="torch_ema/ema.py 0.3, ExponentialMovingAverage.update; CompVis/latent-diffusion, ldm/modules/ema.py",
        difference="e starts at the parameters before training, and is not corrected; "
        "d = min(decay, (1 + s) / (10 + s)) with s from 1",
    ),
    Dialect(
        name="corrected_by_power",
        family=CorrectedByPower,
        origin="PaddlePaddle 3.3",
        reference="Paddle 3.3, python/paddle/static/nn/common.py",
        difference="e / (1 - d_t^t), with the decay of the last update",
    ),
    Dialect(
        name="corrected_with_epsilon",
        family=CorrectedWithEpsilon,
        origin="objax.optimizer.ExponentialMovingAverage(debias=True)",
        reference="Objax 1.8.0, objax/optimizer/ema.py, refs_and_values",
        difference="e / (1 - (1 - 1e-6) * prod d)",
    ),
    with_arithmetic=RoundedAverage,
)

declare(
    Dialect(
        name="current_window",
        family=CurrentWindow,
        origin="hand-written averages",
        difference="the mean over the current window alone",
    ),
    Dialect(
        name="whole_windows",
        family=WholeWindows,
        origin="PaddlePaddle 3.3",
        reference="Paddle 3.3, python/paddle/incubate/optimizer/modelaverage.py",
        difference="n >= min(max, int(updates*rate)): the window's length is cut",
    ),
)
