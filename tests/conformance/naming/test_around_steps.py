"""What is done to gradients of several steps, to steps and to learning rates, on numbers that are checked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.adapters import gradients_multiplied
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.runs.accumulated import CORRECTED, MEAN, SUM, averaged
from optimetry.conformance.naming.runs.decay import (
    ALONE,
    COUPLED,
    DECOUPLED,
    SIGNS,
    TOWARD_0,
    placed_otherwise,
    unasked,
)
from optimetry.conformance.naming.runs.returned import CORRECTED as CORRECTED_AVERAGE
from optimetry.conformance.naming.runs.returned import FROM_FIRST, FROM_START, moving_average
from optimetry.conformance.naming.runs.scheduled import SCHEDULES, scheduled
from optimetry.conformance.naming.solved import solved
from optimetry.conformance.subjects.registry import SUBJECTS
from tests.conformance.altered import after, with_mistake


def numbers(*values: float) -> tuple[Any]:
    """One parameter, or its gradient."""
    return (np.array(values, np.float32),)


def sgd(parameters: tuple[Any], *grads: tuple[Any], rates: tuple[float, ...] = ()) -> Case:
    """A run of gradient descent, by a learning rate of 1 unless others are given."""
    return Case("sgd", "float32", {}, rates or (1.0,) * len(grads), parameters, grads)


def lion(parameters: tuple[Any], grad: tuple[Any]) -> Case:
    """One step of Lion, which is a sign beside a decay."""
    hyper = {"beta1": 0.5, "beta2": 0.5, "weight_decay": 0.5}
    return Case("papers.lion", "float32", hyper, (0.125,), parameters, (grad,))


TIMES = "multiplies each step, before the learning rate, by"

ONE = np.array(-1, np.float32)
MISSING_ONCE = sgd((np.zeros((), np.float32),) * 2, (ONE, ONE), (ONE, None), (ONE, ONE))
"""Two parameters, of which the second has no gradient in the second step."""


@pytest.mark.parametrize(("how", "by_all", "by_own"), [("mean", [1, 0.5], [1, 1]), ("sum", [2, 1], [2, 2])])
def test_gradients_are_collected_by_all_steps_or_by_those_of_a_parameter(
    how: str, by_all: list[float], by_own: list[float]
) -> None:
    own, every = after(f"updates every 2 steps, by the {how} of their gradients", MISSING_ONCE)
    assert own.tolist() == by_own
    assert every.tolist() == by_all


def test_a_step_is_doubled_and_the_step_before_taken_back_at_its_rate_or_at_this_one() -> None:
    case = sgd(numbers(0), numbers(-1), numbers(-1), rates=(1.0, 0.5))
    ways = after("steps twice as far as it should, and takes the step before back", case)
    rated, unrated = 2 * 0.5 - 1, 0.5 * (2 - 1)
    assert [way.tolist() for way in ways] == [[2 + rated], [1 + rated], [2 + unrated], [1 + unrated]]


@pytest.mark.parametrize(
    ("words", "parameter", "grad", "expected"),
    [
        ("clips every element of a step, before the learning rate, to ±1", [0, 0], [4, -0.5], [-0.5, 0.25]),
        ("clips every element of a parameter to ±0.1", [0, 0], [4, 0.125], [-0.1, -0.0625]),
        ("limits each step, before the learning rate, to a norm of 1", [0, 0], [3, 4], [-0.3, -0.4]),
        ("limits each step, before the learning rate, to a norm of 1", [0, 0], [0.5, 0], [-0.25, 0]),
        ("limits each step, before the learning rate, to a root mean square of 1", [0, 0], [1, 7], [-0.1, -0.7]),
        (f"{TIMES} the norm of the parameter over its own", [6, 8], [3, 4], [3, 4]),
        (f"{TIMES} the norm of the parameter over its own", [0, 0], [3, 4], [-1.5, -2]),
        (f"{TIMES} the norm of the parameter over its own", [6, 8], [0, 0], [6, 8]),
        (f"{TIMES} the root mean square of the parameter", [1, 7], [1, 2], [-1.5, 2]),
        (f"{TIMES} the root mean square of the parameter", [0, 0], [1, 2], [0, 0]),
        (f"{TIMES} the root mean square of the parameter, at least 0.001", [1, 7], [1, 2], [-1.5, 2]),
        (f"{TIMES} the root mean square of the parameter, at least 0.001", [0, 0], [1, 2], [-0.0005, -0.001]),
    ],
)
def test_a_step_is_clipped_limited_or_scaled(
    words: str, parameter: list[float], grad: list[float], expected: list[float]
) -> None:
    """By a learning rate of a half."""
    (result,) = after(words, sgd(numbers(*parameter), numbers(*grad), rates=(0.5,)))
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_a_factor_of_the_step_leaves_a_decay_alone_and_one_of_the_rate_does_not() -> None:
    case, factor = lion(numbers(2), numbers(1)), "the root mean square of the parameter"
    (of_the_step,) = after(f"{TIMES} {factor}", case)
    assert of_the_step.tolist() == [2 - 0.125 * (0.5 * 2 + 2)]
    (of_the_rate,) = after(f"multiplies the learning rate by {factor}", case)
    assert of_the_rate.tolist() == [2 - 2 * 0.125 * (0.5 * 2 + 1)]


def test_a_cautious_decay_is_of_the_elements_that_step_toward_0() -> None:
    places = placed_otherwise(SUBJECTS["papers.lion"])
    (mistake,) = (each for each in places if each.run == {"finding": "decays", "how": TOWARD_0})
    (decayed,) = with_mistake(mistake, lion(numbers(2, -2), numbers(1, 1)))
    assert decayed.tolist() == [2 - 0.125 * (1 + 0.5 * 2), -2 - 0.125]


@pytest.mark.parametrize(
    ("how", "expected"),
    [(COUPLED, [1.75, -1.5]), (DECOUPLED, [1.75, -1.5]), (ALONE, [0.875, -0.84375]), (SIGNS, [1.8125, -1.53125])],
)
def test_a_decay_that_nobody_asked_for(how: str, expected: list[float]) -> None:
    """By 0.5, of 2 with a gradient of 1 and of -1.5 with one of 0.75, and a learning rate of an eighth."""
    (result,) = with_mistake(unasked(how, 0.5), sgd(numbers(2, -1.5), numbers(1, 0.75), rates=(0.125,)))
    assert result.tolist() == expected


DECAYING = sgd(numbers(0), *[numbers(-1)] * 3)
"""Parameters of 1, 2 and 3."""

LIMITED = 4 / 13 * (1 / 4 * 9 / 11 + 3 / 4 * 2) + 9 / 13 * 3
"""Their average, of which a part is left in each step."""


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("the mean of its parameters behind all steps", [2, 2]),
        ("the mean of its parameters behind all steps and before", [1.5, 1.5]),
        (
            "a moving average of its parameters by (1 + t)/(10 + t), from the first parameters",
            [4 / 13 * (1 / 4 * 9 / 11 + 3 / 4 * 2) + 9 / 13 * 3] * 2,
        ),
    ],
)
def test_a_mean_of_parameters_may_be_returned(what: str, expected: list[float]) -> None:
    found = after(f"returns {what}, not its parameters", DECAYING)
    assert [float(x[0]) for x in found] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("begun", "expected"),
    [
        (FROM_START, [0.5, 1.25, 2.125]),
        (FROM_FIRST, [1, 1.5, 2.25]),
        (CORRECTED_AVERAGE, [0.5 / 0.5, 1.25 / 0.75, 2.125 / 0.875]),
    ],
)
def test_a_moving_average_of_parameters_may_be_returned(begun: str, expected: list[float]) -> None:
    mistake = moving_average(begun, 0.5, own=False)
    assert mistake.run == {
        "finding": "returned_average",
        "what": f"a moving average of its parameters by 0.5, from {begun}",
    }
    np.testing.assert_allclose(with_mistake(mistake, DECAYING)[:, 0], expected, rtol=1e-12)


def test_averages_of_parameters_count_steps_or_updates() -> None:
    """Without a gradient the second parameter stays 1, and its average moves on, or rests."""
    every, own = (with_mistake(moving_average(FROM_START, 0.5, own=own), MISSING_ONCE) for own in (False, True))
    assert every.tolist() == [[0.5, 0.5], [1.25, 0.75], [2.125, 1.375]]
    assert own.tolist() == [[0.5, 0.5], [1.25, 0.5], [2.125, 1.25]]


def test_the_decay_of_a_returned_average_is_solved_for() -> None:
    case, explanation = sgd(numbers(1), numbers(0.5), numbers(0.25)), Explanation(documented_class("sgd"))
    for begun in (FROM_START, FROM_FIRST, CORRECTED_AVERAGE):
        given = with_mistake(moving_average(begun, 0.75, own=False), case).astype(np.float32)
        found = [x.mistake.run for tier in solved(explanation, case, given) for x in tier]
        assert {
            "finding": "returned_average",
            "what": f"a moving average of its parameters by 0.75, from {begun}",
        } in found


FACTORS = {
    "min(1, t/2)": [0.5, 1, 1],
    "min(1, (t - 1)/2)": [0, 0.5, 1],
    "t**-1": [1, 1 / 2, 1 / 3],
    "0.5**t": [0.5, 0.25, 0.125],
    "0.5**(t - 1)": [1, 0.5, 0.25],
    "1/(1 + 1*t)": [1 / 2, 1 / 3, 1 / 4],
    "1/(1 + 1*(t - 1))": [1, 1 / 2, 1 / 3],
    "max(0, 1 - t/2)": [0.5, 0, 0],
    "max(0, 1 - (t - 1)/2)": [1, 0.5, 0],
    "(1 + cos(pi*min(1, t/2)))/2": [0.5, 0, 0],
    "(1 + cos(pi*min(1, (t - 1)/2)))/2": [1, 0.5, 0],
}
"""The schedules that are tried, with a number each, and their factors in three steps."""


@pytest.mark.parametrize("number", range(len(SCHEDULES)))
def test_a_schedule_multiplies_the_learning_rate_by_what_it_says(number: int) -> None:
    schedule, (words, factors) = SCHEDULES[number], list(FACTORS.items())[number]
    value = 1.0 if words.startswith(("t", "1/")) else 0.5
    case = sgd(numbers(0), *[numbers(-1)] * 3)
    mistake = scheduled(schedule, value, every_step=False)
    assert mistake.run == {"finding": "scheduled", "factor": words}
    np.testing.assert_allclose(with_mistake(mistake, case)[:, 0], np.cumsum(factors), rtol=1e-6, atol=1e-12)


def test_every_schedule_is_checked() -> None:
    assert len(FACTORS) == len(SCHEDULES)


def test_a_schedule_counts_updates_or_every_step() -> None:
    halving = SCHEDULES[4]
    assert with_mistake(scheduled(halving, 0.5, every_step=False), MISSING_ONCE)[-1].tolist() == [1.75, 1.5]
    assert with_mistake(scheduled(halving, 0.5, every_step=True), MISSING_ONCE)[-1].tolist() == [1.75, 1.25]


@pytest.mark.parametrize(("how", "expected"), [(SUM, [-1, -2.5]), (MEAN, [-0.5, -1.25]), (CORRECTED, [-1, -2])])
def test_gradients_are_averaged(how: str, expected: list[float]) -> None:
    case = sgd(numbers(0), numbers(1), numbers(1))
    assert with_mistake(averaged(how, 0.5), case)[:, 0].tolist() == expected


def test_gradients_are_multiplied() -> None:
    assert with_mistake(gradients_multiplied(0.25), sgd(numbers(0), numbers(8))).tolist() == [[-2]]


@pytest.mark.parametrize("size", [1.0, 1e100, 1e300])
def test_secants_that_lead_nowhere_raise_no_error(size: float) -> None:
    """A number of 1e200 solves for a constant of 1e200, whose square is infinite."""
    grads = ((np.array([1.0, -2.0]),), (np.array([0.5, 3.0]),))
    case = Case("sgd", "float64", {}, (0.1, 0.1), (np.zeros(2),), grads)
    given = np.array([[1.0, 2.0], [3.0, 4.0]]) * size
    assert len(list(solved(Explanation(documented_class("sgd")), case, given))) == 11
