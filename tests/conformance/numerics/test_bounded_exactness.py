"""What `Bounded` knows for certain: exact zeros, decided guards, signs; and what it leaves undecided."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.formats import Format
from optimetry.conformance.numerics.trilean import Trilean
from optimetry.reference.norms import norm
from tests.conformance.bounds import about, exact, formats, is_exactly, wide

pytestmark = pytest.mark.usefixtures("quietly")

shapes = pytest.mark.parametrize("shape", [(), (3,), (0,)], ids=str)

COMPARE = {
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}


@formats
@shapes
def test_exactly_computed_zeros_are_exact(form: Format, shape: tuple[int, ...]) -> None:
    """A bound of zero "arises for inputs, for products with an exact zero, and for sums with one"."""
    zero = exact(wide(0, form, shape), form)
    x = about(0.7, 0.1, form, shape)
    results = [zero * x, x * zero, 0 * x, zero / x, zero + zero, zero - zero, -zero, np.abs(zero), np.sign(zero)]
    results += [np.sqrt(zero), np.square(zero), zero**2, zero**0.5, np.maximum(zero, zero), np.minimum(zero, zero)]
    results += [np.sum(zero, initial=0.0), norm(zero), np.zeros_like(x), zero * about(1e30, 0, form), 3 * zero + zero]
    results += [exact(wide(0.75, form, shape), form) - exact(wide(0.75, form, shape), form)]
    for result in results:
        assert is_exactly(result, 0)


@formats
def test_what_underflows_even_the_wide_format_is_no_exact_zero(form: Format) -> None:
    """Otherwise a guard on it would be decided, wrongly for an implementation that keeps more bits."""
    tiny = exact(wide(form.tiny, form), form)
    vanishing = [tiny**100, tiny]
    for _ in range(12):
        vanishing.append(np.square(vanishing[-1]))
    for x in (vanishing[0], vanishing[-1], vanishing[-1] * tiny, vanishing[-1] / 3):
        assert x.bound > 0
        assert (x > 0).undecided


@formats
@shapes
def test_adding_an_exact_zero_adds_no_bound(form: Format, shape: tuple[int, ...]) -> None:
    zero = exact(wide(0, form, shape), form)
    for bound in (0.0, 0.25):
        x = about(0.75, bound, form, shape)
        for result in (x + zero, zero + x, x - zero, x + 0.0, x - 0):
            assert np.all(result.value == x.value)
            assert np.all(result.bound == x.bound)


@formats
def test_a_zero_with_a_bound_is_no_exact_zero(form: Format) -> None:
    """It may be anything within its bound, so a sum with it is rounded."""
    x, about_zero = about(0.75, 0, form), about(0, 0.25, form)
    for result in (x + about_zero, about_zero + x, x - about_zero, about_zero - x):
        assert result.bound > 0.25


@formats
def test_the_largest_number_stays_finite(form: Format) -> None:
    """Infinity as a bound means that the result may overflow; what is not rounded does not."""
    largest = exact(wide(form.largest, form), form)
    for kept in (largest + 0.0, np.abs(largest), np.maximum(largest, 1), np.where(largest > 0, largest, 0.0)):
        assert is_exactly(kept, form.largest)
    assert np.isfinite((largest * 1).bound)
    assert not np.isfinite((largest * 1.01).bound)
    assert not np.isfinite((largest + largest).bound)
    assert not np.isfinite(np.square(largest).bound)
    assert not np.isfinite((1 / about(0, form.tiny, form)).bound)
    assert not np.isfinite((largest**3).bound)
    assert not np.isfinite(np.sum(exact(wide(form.largest, form, (2,)), form), initial=0.0).bound)
    assert is_exactly(np.sum(exact(wide(form.largest, form, (1,)), form), initial=0.0), form.largest)


@formats
def test_only_what_is_added_counts_as_a_term(form: Format) -> None:
    """Zeros among the terms of a sum, and the sum of one term, lose nothing."""
    terms = exact(np.array([0, 0.75, 0]).astype(form.wide), form)
    assert is_exactly(np.sum(terms, initial=0.0), 0.75)
    assert is_exactly(np.sum(terms[1:2], initial=0.0), 0.75)
    assert is_exactly(np.sum(terms[:0], initial=0.0), 0)


@formats
@pytest.mark.parametrize("size", [0, 1, 3])
def test_zero_norm_guards_are_decided(form: Format, size: int) -> None:
    """The issue: "exactly computed zeros stay exact, so zero-norm guards are decided, not blurred"; 0-d quad, too."""
    zero_norm = norm(exact(np.zeros(size).astype(form.dtype), form))
    some_norm = norm(exact(np.arange(1, 4).astype(form.dtype), form))
    for guard, truth in (
        (zero_norm > 0, False),
        (some_norm > 0, True),
        ((zero_norm > 0) & (some_norm > 0), False),
        ((some_norm > 0) & (some_norm > 0), True),
        ((zero_norm > 0) | (some_norm > 0), True),
        (~(zero_norm > 0), True),
        (zero_norm == 0, True),
    ):
        assert guard.truth.dtype == guard.undecided.dtype == bool
        assert bool(guard.truth) is truth
        assert not guard.undecided
    assert is_exactly(np.where(zero_norm > 0, some_norm / zero_norm, 1.0), 1)


@formats
def test_a_norm_that_may_underflow_is_undecided(form: Format) -> None:
    """Where squares vanish below the smallest subnormal, a guard may go either way, and neither way is known."""
    vanishing = norm(exact(wide(float(np.sqrt(form.tiny)) / 4, form, (2,)).astype(form.dtype), form))
    assert (vanishing > 0).undecided
    guarded: Any = np.where(vanishing > 0, 1 / vanishing, 1.0)
    assert not np.isfinite(guarded.bound)


@formats
@pytest.mark.parametrize("name", COMPARE)
@shapes
def test_a_comparison_is_decided_exactly_when_no_value_within_reach_answers_otherwise(
    name: str, form: Format, shape: tuple[int, ...]
) -> None:
    compare = COMPARE[name]
    for a, b, reach_a, reach_b in product((-1, 0, 1), (-1, 0, 1), (0, 0.25, 1), (0, 0.25, 1)):
        outcome = compare(about(a, reach_a, form, shape), about(b, reach_b, form, shape))
        ends = product((a - reach_a, a, a + reach_a), (b - reach_b, b, b + reach_b))
        answers = {bool(compare(x, y)) for x, y in ends}
        assert outcome.truth.shape == outcome.undecided.shape == shape
        assert outcome.truth.dtype == outcome.undecided.dtype == bool
        assert np.all(outcome.truth == compare(a, b))
        if len(answers) == 2:
            assert np.all(outcome.undecided)
        elif abs(a - b) != reach_a + reach_b:  # intervals that touch in one point may count as overlapping
            assert not np.any(outcome.undecided)


@formats
@shapes
def test_an_undecided_choice_covers_both_branches(form: Format, shape: tuple[int, ...]) -> None:
    """Of `np.where`: "where the condition is undecided, the bound reaches over both"."""
    first, second = about(3, 0.5, form, shape), about(-1, 0.25, form, shape)
    for truth in (True, False):
        undecided: Any = Trilean(np.full(shape, truth), np.full(shape, True))
        chosen = np.where(undecided, first, second)
        assert np.all(chosen.value == (3 if truth else -1))
        for low, high in ((2.5, 3.5), (-1.25, -0.75)):
            assert np.all(chosen.value - chosen.bound <= low)
            assert np.all(chosen.value + chosen.bound >= high)
        assert np.all(chosen.bound < 4.51)
        certain: Any = Trilean(np.full(shape, truth), np.full(shape, False))
        decided = np.where(certain, first, second)
        assert np.all(decided.bound == (0.5 if truth else 0.25))
        plain = np.where(np.full(shape, truth), first, second)
        assert np.all(plain.bound == decided.bound)
        assert np.all(plain.value == decided.value)


@formats
def test_an_undecided_choice_of_something_unknown_is_unknown(form: Format) -> None:
    unknown, known = about(1, np.inf, form), about(1, 0, form)
    for truth, undecided in product((True, False), repeat=2):
        condition: Any = Trilean(truth, undecided)
        chosen = np.where(condition, unknown, known)
        assert bool(np.isfinite(chosen.bound)) is (not truth and not undecided)


@formats
@shapes
def test_a_sign_is_certain_or_covers_all_it_may_be(form: Format, shape: tuple[int, ...]) -> None:
    for value, bound, low, high in (
        (2, 1, 1, 1),
        (-2, 1, -1, -1),
        (0, 0, 0, 0),
        (1, 2, -1, 1),
        (-1, 2, -1, 1),
        (0, 1, -1, 1),
        (1, 1, 0, 1),
        (-1, 1, -1, 0),
    ):
        sign = np.sign(about(value, bound, form, shape))
        assert np.all(sign.value == np.sign(value))
        assert np.all(sign.value - sign.bound <= low)
        assert np.all(sign.value + sign.bound >= high)
        assert np.all(sign.bound == (0 if low == high else 1 + abs(np.sign(value)))), "no wider than from -1 to 1"
    for unknown in (np.inf, np.nan):
        assert not np.any(np.isfinite(np.sign(about(1, unknown, form, shape)).bound))  # a NaN has no sign


@formats
def test_what_cannot_be_negative_is_known(form: Format) -> None:
    """``nonnegative``: "that evaluation cannot be negative, whatever its rounding errors", so its root exists."""
    x, small = about(-0.5, 2, form, (2,)), about(0.25, 1, form, (2,))
    sure = np.abs(x)
    for result in (
        *(sure, np.square(x), x * x, x**2, np.sqrt(sure), sure + sure, sure * sure, sure / (sure + 9), sure**0.5),
        *(np.maximum(x, sure), np.maximum(sure, x), np.minimum(sure, sure), np.sign(sure), np.sum(sure, initial=0.0)),
        *(
            np.where(x > 0, sure, np.square(x)),
            np.where(np.array([True, False]), sure, np.square(x)),
            np.zeros_like(x),
            norm(x),
            sure[0],
            0.5 * sure,
        ),
    ):
        assert result.nonnegative
        assert np.all(np.isfinite(np.sqrt(result).bound))
    for result in (
        *(x, small, x + sure, sure - sure, x * sure, small / (sure + 9)),
        *(-sure, np.sign(x), x**3, np.minimum(x, sure)),
    ):
        assert not result.nonnegative
    assert not np.any(np.isfinite(np.sqrt(small).bound))
    assert about(1, 0.5, form).nonnegative  # 0-d, and away from zero
    assert about(1, 1, form).nonnegative  # or reaching it
    assert not about(0.5, 1, form).nonnegative


@formats
def test_a_pole_within_reach_of_the_base_is_not_bounded(form: Format) -> None:
    """Corners bound a power that is monotone; across zero, one with a negative exponent is not."""
    for exponent in (-1, -2, -0.5):
        assert not np.isfinite((about(0.5, 1, form) ** exponent).bound)
        assert not np.isfinite((about(0, 1, form, nonnegative=True) ** exponent).bound)
    for exponent in (0, 2):
        assert np.isfinite((about(0.5, 1, form) ** exponent).bound)
    assert not np.isfinite((about(0.5, 1, form) ** 0.5).bound)


@formats
def test_the_bound_of_a_root_is_what_the_lower_end_loses_whatever_the_sign_might_be(form: Format) -> None:
    for nonnegative in (False, True):
        root = np.sqrt(about(4, 0.5, form, (1,), nonnegative))
        assert float(root.bound[0]) == pytest.approx(2 - 3.5**0.5, rel=0.1)
