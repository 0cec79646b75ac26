"""What holds a `Bounded` number: its format, how it is rounded to another, and the comparisons that it gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, MARGIN, Format, _format, flushing, scalar_format
from optimetry.conformance.numerics.operations import _comparison
from optimetry.conformance.numerics.trilean import Trilean
from tests.conformance.bounds import about, exact, formats, is_exactly, wide

pytestmark = pytest.mark.usefixtures("quietly")


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
