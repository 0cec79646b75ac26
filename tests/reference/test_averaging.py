"""Averages: what they are, against exact arithmetic and a list of all past parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.reference.averaging import window
from optimetry.reference.averaging.exponential import Decayed, ExponentialAverage
from optimetry.reference.averaging.window import WindowAverage, Windows
from tests.conformance.rationals import fraction
from tests.reference.rejections import DETERMINISTIC, rejected

FLOAT32 = FORMATS["float32"]
DECAYS = st.sampled_from([0.0, 0.5, 0.9, 0.999, 0.25]) | st.floats(0, 1, exclude_max=True, width=32)
NUMBERS = st.floats(-100, 100, width=32, allow_subnormal=False)


@dataclass(frozen=True)
class History:
    """A decay, and what is averaged: for each update the parameter and the step of the schedule."""

    decay: float
    parameters: tuple[float, ...]
    steps: tuple[int | None, ...]


@st.composite
def histories(draw: st.DrawFn, constant: bool = False, scheduled: bool | None = None) -> History:
    count = draw(st.integers(1, 12))
    numbers = [draw(NUMBERS)] * count if constant else [draw(NUMBERS) for _ in range(count)]
    with_schedule = draw(st.booleans()) if scheduled is None else scheduled
    first = draw(st.integers(0, 100))
    return History(draw(DECAYS), tuple(numbers), tuple(first + i if with_schedule else None for i in range(count)))


def averaged(rule: ExponentialAverage, arrays: Sequence[Any], steps: Sequence[int | None]) -> Any:
    state = rule.start([arrays[0]])
    for array, step in zip(arrays, steps, strict=True):
        state = rule.update(state, [array], step)
    return rule.averages(state)[0]


def run(implementation: Callable[[Any], ExponentialAverage], history: History) -> tuple[Any, Any]:
    """The float32 average, and the reference on `Bounded` for its bound."""
    arrays = [np.array([number], np.float32) for number in history.parameters]
    lifted = ExponentialAverage(Bounded.scalar(history.decay, FLOAT32))
    with np.errstate(all="ignore"):  # where nothing is known, as if the decay may have been 1
        bounded = averaged(lifted, [Bounded.exact(array, FLOAT32) for array in arrays], history.steps)
    return averaged(implementation(history.decay), arrays, history.steps), bounded


def assert_within_bound(average: Any, exact: Fraction, bounded: Any) -> None:
    assert average.dtype == np.float32
    bound = fraction(bounded.bound[0])
    assert bound is None or abs(Fraction(float(average[0])) - exact) <= bound


def average_of_a_constant(implementation: Callable[[Any], ExponentialAverage], history: History) -> None:
    """The average of a constant is that constant: the correction undoes the start at zero, schedule or not."""
    average, bounded = run(implementation, history)
    assert_within_bound(average, Fraction(history.parameters[0]), bounded)


def weighted_mean(implementation: Callable[[Any], ExponentialAverage], history: History) -> None:
    """The average is the mean of all parameters, each weighted by its (1 - d) and the decays after it."""
    average, bounded = run(implementation, history)
    total, weights = Fraction(0), Fraction(0)
    for number, step in zip(history.parameters, history.steps, strict=True):
        decay = Fraction(history.decay)
        if step is not None:
            decay = min(decay, Fraction(1 + step, 10 + step))
        total = decay * total + (1 - decay) * Fraction(number)
        weights = decay * weights + (1 - decay)
    assert_within_bound(average, total / weights, bounded)


@DETERMINISTIC
@given(histories(constant=True))
def test_the_average_of_a_constant_is_that_constant(history: History) -> None:
    average_of_a_constant(ExponentialAverage, history)


@DETERMINISTIC
@given(st.integers(-1000, 1000), st.sampled_from([0.0, 0.5]), st.integers(1, 10))
def test_the_average_of_a_constant_is_exact_where_nothing_is_rounded(number: int, decay: float, count: int) -> None:
    for dtype in (np.float32, np.float64):
        average = averaged(ExponentialAverage(decay), [np.array([number], dtype)] * count, [None] * count)
        assert average[0] == number


@DETERMINISTIC
@given(histories())
def test_the_average_is_the_weighted_mean_of_all_parameters(history: History) -> None:
    weighted_mean(ExponentialAverage, history)


class DebiasedByPower(ExponentialAverage):
    """Paddle 1.8: divides by ``1 - d^t`` with the last decay, under a schedule too."""

    def update(self, state: Decayed, parameters: Sequence[Any], thres_steps: int | None = None) -> Decayed:
        after = super().update(state, parameters, thres_steps)
        count = getattr(state.product, "count", 0) + 1
        power = _Power(self.decay_at(thres_steps) ** count)
        power.count = count
        return Decayed(power, after.biased)


class _Power(float):
    count = 0


class NotDebiased(ExponentialAverage):
    """optax with ``debias=False``."""

    def averages(self, state: Decayed) -> list[Any]:
        return list(state.biased)


class StartsAtTheFirst(ExponentialAverage):
    """torch and Keras: the first average is the first parameter, and nothing is corrected."""

    def update(self, state: Decayed, parameters: Sequence[Any], thres_steps: int | None = None) -> Decayed:
        return Decayed(0.0, list(parameters)) if state.product == 1 else super().update(state, parameters, thres_steps)


class ScheduledByMaximum(ExponentialAverage):
    def decay_at(self, thres_steps: int | None) -> Any:
        return self.decay if thres_steps is None else max(self.decay, (1 + thres_steps) / (10 + thres_steps))


@pytest.mark.parametrize(
    ("law", "faulty", "cases"),
    [
        (average_of_a_constant, DebiasedByPower, histories(constant=True, scheduled=True)),
        (average_of_a_constant, NotDebiased, histories(constant=True)),
        (weighted_mean, StartsAtTheFirst, histories()),
        (weighted_mean, DebiasedByPower, histories(scheduled=True)),
        (weighted_mean, ScheduledByMaximum, histories(scheduled=True)),
    ],
)
def test_a_faulty_exponential_average_is_rejected(law: Any, faulty: Any, cases: st.SearchStrategy[History]) -> None:
    assert rejected(law, faulty, cases)


# The window average against a list of all past parameters. Of small integers, sums are exact: only the division rounds.


@dataclass(frozen=True)
class Case:
    """A window, the length of the fold, and what is averaged."""

    rate: float
    minimum: int
    maximum: int
    fold: int
    parameters: tuple[int, ...]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    minimum = draw(st.integers(1, 6))
    maximum = draw(st.integers(minimum, 9))
    rate = draw(st.sampled_from([0.0, 0.15, 0.5, 1.0, 2.0]))
    parameters = draw(st.lists(st.integers(-9, 9), min_size=1, max_size=25))
    return Case(rate, minimum, maximum, draw(st.integers(1, 7)), tuple(parameters))


def brute_force(case: Case) -> list[Fraction]:
    """The average after each update, from lists of the parameters in both windows."""
    previous: list[int] = []
    current: list[int] = []
    means = []
    for updates, number in enumerate(case.parameters, 1):
        current.append(number)
        if len(current) >= case.minimum and len(current) >= min(case.maximum, updates * case.rate):
            previous, current = current, []
        means.append(Fraction(sum(previous) + sum(current), len(previous) + len(current)))
    return means


def mean_of_two_windows(implementation: type[WindowAverage], case: Case) -> None:
    """After every update the average is the mean over the current and the previous window."""
    rule = implementation(case.rate, case.minimum, case.maximum)
    state = rule.start([np.zeros(1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "FOLD", case.fold)
        for number, mean in zip(case.parameters, brute_force(case), strict=True):
            state = rule.update(state, [np.array([float(number)])])
            assert rule.averages(state)[0][0] == float(mean)


@DETERMINISTIC
@given(cases())
def test_the_average_is_the_mean_of_two_windows(case: Case) -> None:
    mean_of_two_windows(WindowAverage, case)


class CurrentWindowOnly(WindowAverage):
    def averages(self, state: Windows) -> list[Any]:
        count = float(max(state.in_window, 1))
        return [(a + b) / count for a, b in zip(state.recent, state.folded, strict=True)]


class FoldLosesTheSum(WindowAverage):
    def update(self, state: Windows, parameters: Sequence[Any]) -> Windows:
        after = super().update(state, parameters)
        is_fold = after.updates % window.FOLD == 0
        return after._replace(folded=[np.zeros_like(x) for x in after.folded]) if is_fold else after


class FoldCountsTwice(WindowAverage):
    def update(self, state: Windows, parameters: Sequence[Any]) -> Windows:
        after = super().update(state, parameters)
        is_fold = after.updates % window.FOLD == 0
        return after._replace(recent=after.folded) if is_fold else after


class ClosesLater(WindowAverage):
    def is_full(self, updates: int, in_window: int) -> bool:
        return in_window > self.minimum and in_window > min(self.maximum, updates * self.rate)


class MaximumOfBoth(WindowAverage):
    def is_full(self, updates: int, in_window: int) -> bool:
        return in_window >= self.minimum and in_window >= max(self.maximum, updates * self.rate)


@pytest.mark.parametrize("faulty", [CurrentWindowOnly, FoldLosesTheSum, FoldCountsTwice, ClosesLater, MaximumOfBoth])
def test_a_faulty_window_average_is_rejected(faulty: type[WindowAverage]) -> None:
    assert rejected(mean_of_two_windows, faulty, cases())


@pytest.mark.parametrize(("rate", "minimum", "maximum"), [(0.15, 10000, 12500), (1.0, 20000, 40000), (0.5, 1, 100000)])
def test_the_average_across_the_fold_at_16384_updates(rate: float, minimum: int, maximum: int) -> None:
    assert window.FOLD == 16384
    count = 2 * window.FOLD + 200
    numbers = tuple((7 * i) % 23 - 5 for i in range(count))
    wanted = brute_force_sums(Case(rate, minimum, maximum, window.FOLD, numbers))
    rule = WindowAverage(rate, minimum, maximum)
    state = rule.start([np.zeros(1)])
    for number, mean in zip(numbers, wanted, strict=True):
        state = rule.update(state, [np.array([float(number)])])
        assert rule.averages(state)[0][0] == mean


def brute_force_sums(case: Case) -> list[float]:
    """`brute_force`, from the places where windows begin and the sums of all parameters up to each update."""
    sums = np.concatenate([[0], np.cumsum(case.parameters)])
    begin_previous = begin = 0
    means = []
    for updates in range(1, len(case.parameters) + 1):
        if updates - begin >= case.minimum and updates - begin >= min(case.maximum, updates * case.rate):
            begin_previous, begin = begin, updates
        means.append(float(sums[updates] - sums[begin_previous]) / (updates - begin_previous))
    return means
