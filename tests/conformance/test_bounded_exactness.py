"""What `Bounded` knows for certain: exact zeros, decided guards, signs; and what it leaves undecided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.bounded import Bounded, _comparison
from optimetry.conformance.numerics.formats import FORMATS, MARGIN, Format, _format, flushing, scalar_format
from optimetry.conformance.numerics.trilean import Trilean
from optimetry.reference.norms import norm

formats = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
shapes = pytest.mark.parametrize("shape", [(), (3,), (0,)], ids=str)

COMPARE = {
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}


@pytest.fixture(autouse=True)
def _quietly() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def wide(number: float, form: Format, shape: tuple[int, ...] = ()) -> Any:
    return np.full(shape, number).astype(form.wide)


def exact(array: Any, form: Format) -> Any:
    """NumPy's types know nothing of what its functions dispatch on."""
    return Bounded.exact(array, form)


def about(number: float, bound: float, form: Format, shape: tuple[int, ...] = (), nonnegative: bool = False) -> Any:
    return Bounded(wide(number, form, shape), wide(bound, form, shape), form, nonnegative)


def is_exactly(x: Any, number: float) -> bool:
    return bool(np.all(x.value == number) and np.all(x.bound == 0))


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
    """Otherwise a guard on it would be decided, and decided wrongly for who keeps it in still more bits."""
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


@pytest.mark.parametrize(("dtype", "bits", "least"), [(np.float16, 11, -24), (np.float32, 24, -149)])
def test_a_format_is_made_of_its_dtypes_constants(dtype: Any, bits: int, least: int) -> None:
    form = _format(dtype, np.dtype(np.float64))
    assert (form.name, form.dtype, form.wide) == (np.dtype(dtype).name, np.dtype(dtype), np.dtype(np.float64))
    assert form.roundoff == 2.0**-bits * MARGIN
    assert (form.tiny, float(form.half_tiny)) == (2.0**least * MARGIN, 2.0 ** (least - 1) * MARGIN)
    assert form.smallest_normal == 2.0 ** (least + bits - 1)
    assert form.largest == float(np.finfo(dtype).max)
    assert np.isfinite(form.largest * form.headroom)
    with np.errstate(over="ignore"):
        assert np.isinf(form.largest * (1 + 2.0**-40) * form.headroom)
    assert float(form.headroom * form.roundoff_after_headroom) == pytest.approx(form.roundoff, rel=1e-15)


def test_a_comparison_is_made_of_its_ufunc() -> None:
    less = _comparison(np.less)
    one, two = about(1, 0.25, FORMATS["float32"]), about(2, 0.25, FORMATS["float32"])
    assert (bool(less(one, two).truth), bool(less(two, one).truth)) == (True, False)
    assert not less(one, two).undecided


def test_trileans_follow_kleenes_tables() -> None:
    """False settles ``and``, true settles ``or``, whatever is undecided beside them."""
    trileans = {True: Trilean(True, False), False: Trilean(False, False), None: Trilean(True, True)}
    unknown = (trileans[None], Trilean(False, True))

    def outcome(x: Trilean) -> bool | None:
        return None if x.undecided else bool(x.truth)

    for p, q in product(trileans, repeat=2):
        for a, b in product(unknown if p is None else [trileans[p]], unknown if q is None else [trileans[q]]):
            assert outcome(a & b) is (False if False in (p, q) else None if None in (p, q) else True)
            assert outcome(a | b) is (True if True in (p, q) else None if None in (p, q) else False)
        assert outcome(~trileans[p]) is (None if p is None else not p)


def test_nothing_may_branch_on_a_bounded_number() -> None:
    """``if`` would take one branch in silence, where `np.where` covers both."""
    x = about(1, 2, FORMATS["float32"])
    for value in (x, x > 0):
        with pytest.raises(TypeError, match=r"np\.where"):
            bool(value)


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
def test_inputs_are_exact_and_hyperparameters_are_held_or_rounded(form: Format) -> None:
    """An input is "exactly what it says"; a scalar is "held as given, or rounded, as the implementation pleases"."""
    values = np.array([0.1, -3, 0]).astype(form.dtype)
    assert np.array_equal(exact(values, form).value, values.astype(form.wide))
    assert not np.any(exact(values, form).bound)
    for held in {scalar_format(form), form}:
        for number in (0.1, 0.999, 0.5, 1e-8, float(form.tiny) / 3, 0.0):
            scalar = Bounded.scalar(number, held)
            distance = np.abs(np.asarray(number).astype(held.dtype).astype(held.wide) - scalar.value)
            assert scalar.value == number
            assert distance <= scalar.bound <= distance * 1.001
    assert not np.isfinite(Bounded.scalar(1e39, FORMATS["float32"]).bound)
    assert not np.any(np.isfinite(exact(np.array([np.inf, -np.inf, np.nan]).astype(form.dtype), form).bound))


def test_a_number_is_rounded_to_a_coarser_format_only() -> None:
    form = FORMATS["float32"]
    x = about(1 / 3, 0, form)
    for same_or_finer in (form, flushing(form), FORMATS["float64"]):
        assert x.held_in(same_or_finer) is x
    coarser = x.held_in(FORMATS["bfloat16"])
    assert coarser.form is FORMATS["bfloat16"]
    assert 0 < coarser.bound < 1e-2
    for nonnegative in (True, False):
        assert about(-1 / 3, 1, form, (2,), nonnegative).held_in(FORMATS["bfloat16"]).nonnegative is nonnegative


def test_scalars_are_rounded_when_they_meet_a_coarser_array() -> None:
    """0.999 is 1 in bfloat16: whoever rounds it there is within the bound, and so is who does not."""
    form = FORMATS["bfloat16"]
    x = exact(np.ones(2).astype(form.dtype), form)
    beta = Bounded.scalar(0.999, scalar_format(form))
    assert (1 - beta).form is FORMATS["float32"]
    for result, kept, lowered in (
        (beta * x, 0.999, 1),
        ((1 - beta) * x, 1 - 0.999, 0.0010004),
        (beta + 0 * x, 0.999, 1),
    ):
        assert result.form is form
        for outcome in (kept, lowered):
            assert np.all(np.abs(outcome - result.value) <= result.bound)
    half = Bounded.scalar(0.5, scalar_format(form))
    assert is_exactly(half + 0 * x, 0.5)


@formats
def test_flushed_subnormals_are_within_reach(form: Format) -> None:
    """Where a format flushes, "a subnormal operand or result may become zero"; an exact zero is one already."""
    flushed, smallest = flushing(form), float(form.smallest_normal)
    large, small = about(1.5 * smallest, 0, flushed), about(1.25 * smallest, 0, flushed)
    alternating = exact((np.array([1.5, -1.25, 1.5, -1.25]) * smallest).astype(form.dtype), flushed)
    for result in (
        *(large - small, large + -small, large * 0.5, large / 2, np.sum(alternating, initial=0.0)),
        *(exact(wide(smallest / 2, form), flushed), Bounded.scalar(smallest / 2, flushed)),
    ):
        assert result.value > 0
        assert result.value - result.bound <= 0
    assert is_exactly(large - large, 0)
    assert is_exactly(exact(wide(0, form), flushed) * large, 0)
    assert is_exactly(exact(wide(1, form), flushed), 1)
    assert not np.isfinite(exact(wide(np.inf, form), flushed).bound)


@formats
def test_a_pole_within_reach_of_the_base_is_not_bounded(form: Format) -> None:
    """Corners bound a power that is monotone; across zero, one with a negative exponent is not."""
    for exponent in (-1, -2, -0.5):
        assert not np.isfinite((about(0.5, 1, form) ** exponent).bound)
        assert not np.isfinite((about(0, 1, form, nonnegative=True) ** exponent).bound)
    for exponent in (0, 2):
        assert np.isfinite((about(0.5, 1, form) ** exponent).bound)
    assert not np.isfinite((about(0.5, 1, form) ** 0.5).bound)
