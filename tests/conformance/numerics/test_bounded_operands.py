"""What `Bounded` numbers meet: arrays, hyperparameters, each other's kinds, and averages that are moved by a share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.arithmetic import incremented
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.numerics.moved import Moved

pytestmark = pytest.mark.usefixtures("quietly")

FORM = FORMATS["float32"]
NUMBERS = np.array([0.1, -3.0, 7e-3, 1e5], np.float32)
OPERATIONS = [np.add, np.subtract, np.multiply, np.divide, np.maximum]


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a.value, b.value) and np.array_equal(a.bound, b.bound))


@pytest.mark.parametrize("ufunc", OPERATIONS)
def test_an_array_is_an_exact_number_on_either_side(ufunc: np.ufunc) -> None:
    x = Bounded.exact(NUMBERS, FORM) * Bounded.exact(NUMBERS, FORM)
    exact = Bounded.exact(NUMBERS[::-1], FORM)
    assert same(ufunc(x, NUMBERS[::-1]), ufunc(x, exact))
    assert same(ufunc(NUMBERS[::-1], x), ufunc(exact, x))


def test_only_what_follows_from_hyperparameters_alone_is_remembered() -> None:
    beta, x = Bounded.scalar(0.9, FORM), Bounded.exact(NUMBERS, FORM)
    for product in (beta * x, x * beta, np.maximum(beta, x), np.maximum(x, beta)):
        assert product.computed is None
    assert beta.computed == {}
    assert np.maximum(beta, beta) is np.maximum(beta, beta)


@pytest.mark.parametrize("function", [np.sum, np.mean])
def test_a_moved_parameter_is_rounded_before_any_function_but_a_choice(function: Any) -> None:
    moved = Moved.of(np.array([0.1, 1e5, 3.0]), np.zeros(3), FORM, FORMATS["float64"])
    assert same(function(moved), function(moved.narrowed))
    assert same(function(moved, axis=0), function(moved.narrowed, axis=0))
    chosen = np.where(np.array([True, False, True]), moved, moved)
    assert isinstance(chosen, Moved)
    assert same(chosen, moved)


@pytest.mark.parametrize("gain", [0.5, 0.75, 1.0])
def test_an_average_that_is_moved_by_a_half_or_more_is_bounded_no_worse_than_by_its_operations(gain: float) -> None:
    """Below a half the other spelling, which begins at the new number, rounds larger products."""
    average, new = (Bounded.exact(x, FORM) * Bounded.exact(x, FORM) for x in (NUMBERS, NUMBERS[::-1].copy()))
    plain = average + gain * (new - average)
    assert np.all(incremented(average, gain, new).bound <= plain.bound * (1 + 1e-9))
    assert np.all(incremented(average, 0.25, new).bound > 0)
