"""How far a trajectory is from what is expected, worked out by hand: shares of the bound, units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.agreement import (
    LARGEST_SHARE,
    LARGEST_ULP,
    SLACK,
    Agreement,
    Expected,
    compare,
    explained,
    explains,
    first_beyond,
)
from optimetry.conformance.numerics.formats import FORMATS

FLOAT32, FLOAT64 = FORMATS["float32"], FORMATS["float64"]


def oracle(value: Any, bound: Any, start: Any) -> Expected:
    return Expected(np.array(value, np.float64), np.array(bound, np.float64), np.array(start, np.float64))


def returned(*rows: Any) -> Any:
    return np.array(rows, np.float32)


@pytest.mark.parametrize(("bits", "ulp"), [(0, 0), (1, 1), (3, 3), (1000, 1000)])
@pytest.mark.parametrize("value", [1.0, 1.5, -1.25, 0.09375, 3e30])
def test_a_difference_of_representable_numbers_is_counted_in_them(value: float, bits: int, ulp: int) -> None:
    value = float(np.float32(value))
    after = (np.array([value], np.float32).view(np.int32) + bits).view(np.float32)
    assert compare(after[None], oracle([[value]], [[abs(value)]], [0.0]), FLOAT32).ulp == ulp


def test_a_part_of_a_unit_is_rounded_up() -> None:
    after = returned([1.0])
    for part, ulp in ((0.25, 1), (1.75, 2), (2.0, 2)):
        value = 1 + part * 2.0**-23
        assert compare(after, oracle([[value]], [[1.0]], [0.0]), FLOAT32).ulp == ulp


def test_units_are_those_of_the_largest_magnitude_so_far() -> None:
    """Cancellation near zero does not count: units are of the largest parameter so far, the start included."""
    off = float(np.float32(0.25) - np.float32(0.25) + np.float32(2.0**-20))
    apart = oracle([[0.0]], [[1.0]], [0.0])
    assert compare(returned([off]), apart, FLOAT32).ulp == int(LARGEST_ULP)
    for start, ulp in ((1.0, 8), (8.0, 1), (64.0, 1), (0.5, 16)):
        assert compare(returned([off]), oracle([[0.0]], [[1.0]], [start]), FLOAT32).ulp == ulp
    earlier = oracle([[4.0], [0.0], [0.0]], [[1.0]] * 3, [0.0])
    assert compare(returned([4.0], [off], [0.0]), earlier, FLOAT32).ulp == 2
    later = oracle([[0.0], [4.0]], [[1.0]] * 2, [1.0])
    assert compare(returned([off], [4.0]), later, FLOAT32).ulp == 8, "what comes after is no excuse"


def test_units_are_those_of_the_format() -> None:
    wide = Expected(np.array([[1.0]]).astype(FLOAT64.wide), np.array([[1.0]]).astype(FLOAT64.wide), np.zeros(1))
    assert compare(np.array([[1 + 5 * 2.0**-52]]), wide, FLOAT64).ulp == 5
    half = compare(np.array([[1 + 2.0**-10]], np.float16), oracle([[1.0]], [[1.0]], [0.0]), FORMATS["float16"])
    assert half.ulp == 1
    subnormal = oracle([[0.0]], [[1.0]], [2.0**-149])
    assert compare(returned([3 * 2.0**-149]), subnormal, FLOAT32).ulp == 3


def test_the_share_is_the_largest_difference_over_its_bound_and_says_where() -> None:
    expected = oracle([[1.0, 2.0], [3.0, 4.0]], [[0.5, 0.5], [0.25, 2.0]], [1.0, 2.0])
    agreement = compare(returned([1.0, 2.25], [3.5, 5.0]), expected, FLOAT32)
    assert (agreement.share, agreement.worst, agreement.elements, agreement.vacuous) == (2.0, (1, 0), 4, 0)
    assert agreement.conforms == (SLACK >= 2.0)
    assert not compare(returned([1.0, 2.0], [3.75, 4.0]), expected, FLOAT32).conforms


def test_a_difference_where_none_is_allowed_is_as_far_as_can_be() -> None:
    exact = oracle([[1.0, 0.0]], [[0.0, 0.0]], [1.0, 0.0])
    assert compare(returned([1.0, 0.0]), exact, FLOAT32).share == 0
    agreement = compare(returned([1.0, 1e-45]), exact, FLOAT32)
    assert (agreement.share, agreement.worst) == (LARGEST_SHARE, (0, 1))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_nan_where_the_rule_is_finite_is_as_far_as_can_be(bad: float) -> None:
    agreement = compare(returned([1, bad]), oracle([[1.0, 1.0]], [[1e-7, 1e-7]], [1.0, 1.0]), FLOAT32)
    assert (agreement.share, agreement.worst, agreement.ulp) == (LARGEST_SHARE, (0, 1), int(LARGEST_ULP))


def test_an_element_without_a_finite_bound_is_counted_and_not_compared() -> None:
    expected = oracle([[1.0, 1.0, np.nan]], [[np.inf, 0.5, 0.1]], [1.0] * 3)
    agreement = compare(returned([1e30, 1.25, 7.0]), expected, FLOAT32)
    assert (agreement.vacuous, agreement.elements, agreement.share, agreement.worst) == (2, 3, 0.5, (0, 1))
    nothing = compare(returned([np.nan, 2.0]), oracle([[1.0, 1.0]], [[np.inf, np.inf]], [1.0, 1.0]), FLOAT32)
    assert nothing == Agreement(vacuous=2, elements=2)


def test_who_explains_a_run_is_nan_where_it_is() -> None:
    undefined = oracle([[1.0, np.nan]], [[0.5, np.nan]], [1.0, 1.0])
    assert explains(returned([1.25, np.nan]), undefined, FLOAT32)
    assert not explains(returned([1.25, 0.0]), undefined, FLOAT32)
    assert not explains(returned([3.0, np.nan]), undefined, FLOAT32)


def test_agreements_add_up_to_the_worst_of_both() -> None:
    a = Agreement(share=0.5, ulp=7, vacuous=1, elements=4, worst=(0, 1))
    b = Agreement(share=0.75, ulp=2, vacuous=0, elements=3, worst=(2, 0))
    assert a + b == b + a == Agreement(share=0.75, ulp=7, vacuous=1, elements=7, worst=(2, 0))
    assert Agreement() + a == a


class Reluctant(Expected):
    """An expected value that fails when it is asked for more steps than its ``start`` says."""

    def steps(self, first: int, behind: int) -> Expected:
        assert behind <= self.start
        return super().steps(first, behind)


@pytest.mark.parametrize("wrong", [0.5, np.nan])
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 9])
def test_a_difference_in_any_step_refutes_and_no_more_is_evaluated_than_up_to_there(steps: int, wrong: float) -> None:
    value, after = np.ones((steps, 2)), np.ones((steps, 2), np.float32)
    assert explained(after, Expected(value, value * 0.1, np.zeros(2)), FLOAT32) == Agreement(
        elements=2 * steps, worst=(0, 0)
    )
    assert first_beyond(after, Expected(value, value * 0.1, np.zeros(2))) is None
    for step in range(steps):
        off = after.copy()
        off[step, 1] = wrong
        assert not explains(off, Expected(value, value * 0.1, np.zeros(2)), FLOAT32)
        assert first_beyond(off, Expected(value, value * 0.1, np.zeros(2))) == step
        undefined = Expected(np.where(off == 1, value, np.nan), value * 0.1, np.zeros(2))
        assert not explains(after, undefined, FLOAT32)
        for overflown in (np.nan, np.inf, -np.inf):
            assert explains(np.where(off == 1, after, np.float32(overflown)), undefined, FLOAT32)
        looked_at = 2 ** step.bit_length()
        if looked_at < steps:
            assert not explains(off, Reluctant(value, value * 0.1, looked_at), FLOAT32)
            assert first_beyond(off, Reluctant(value, value * 0.1, looked_at)) == step
