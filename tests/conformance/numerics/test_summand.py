"""Sums that an implementation may add up in any order are within one bound in all of them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import SLACK, compare
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, flushing
from optimetry.conformance.numerics.summand import Summand
from optimetry.conformance.oracle.expected import BoundedNumbers, expected
from optimetry.conformance.selftest.equivalents.wrappers import HONEST, MeanOfList
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.session import Guard, trajectory

FORM = FORMATS["float32"]
CANCELLING = np.float32([3e7, 0.1, -3e7, 0.7, 5.0])
"""Documented order: 3e7 meets 0.1 first, which is lost; the last two are added up without a rounding to speak of."""


def summed(numbers: Any, form: Any = FORM) -> Any:
    """The sum of terms, from a zero as sums begin, one after the other."""
    total: Any = Bounded.exact(np.zeros(1), form)
    for number in numbers:
        total = total + Summand.of(Bounded.exact(np.array([number]), form))
    return total


def test_every_order_is_within_the_bound() -> None:
    total = summed(CANCELLING)
    for order in permutations(CANCELLING):
        in_order = np.float32(0)
        for number in order:
            in_order = in_order + number
        assert abs(float(in_order) - total.value[0]) <= total.bound[0]


def test_bounds_of_one_order_do_not_hold_for_another() -> None:
    """What the class is for: small numbers first, whose partial sums are small, and then large ones last."""
    small_first: Any = Bounded.exact(np.zeros(1), FORM)
    for number in sorted(CANCELLING[[1, 3, 4]]):
        small_first = small_first + Bounded.exact(np.array([number]), FORM)
    cancelled = np.float32(3e7) + np.float32(0.1) + np.float32(0.7) + np.float32(5.0) - np.float32(3e7)
    assert abs(float(cancelled) - small_first.value[0]) > SLACK * small_first.bound[0]


def test_a_bound_is_of_all_terms_wherever_they_were_added_first() -> None:
    left, right = summed(CANCELLING[:2]), summed(CANCELLING[2:])
    whole = left + right
    assert isinstance(whole, Summand)
    assert whole.terms[0] == len(CANCELLING)
    assert whole.bound == summed(CANCELLING).bound


def test_one_term_and_zeros_are_exact() -> None:
    zero = Bounded.exact(np.zeros(1), FORM)
    alone = zero + Summand.of(Bounded.exact(np.array([0.1]), FORM)) + zero
    assert isinstance(alone, Summand)
    assert (alone.terms[0], alone.bound[0]) == (1, Bounded.exact(np.array([0.1]), FORM).bound[0])


def test_what_is_not_added_to_terms_is_an_ordinary_number() -> None:
    term, number = Summand.of(Bounded.exact(np.ones(1), FORM)), Bounded.exact(np.full(1, 3.0), FORM)
    for result in (term / 3.0, term * term, term - term, term + number, number + term, term + 3.0):
        assert type(result) is Bounded


def test_a_sum_that_overflows_in_some_order_is_not_known() -> None:
    assert not np.isfinite(summed([2e38, -2e38, 1e38]).bound[0])
    assert np.isfinite(summed([1e38, -1e38, 1e38]).bound[0])


def test_subnormal_partial_sums_may_be_flushed() -> None:
    tiny = FORM.smallest_normal
    kept, flushed = (summed([1.5 * tiny, -tiny, tiny], form) for form in (FORM, flushing(FORM)))
    assert kept.bound[0] < tiny / 2 < 2 * tiny <= flushed.bound[0]


def test_what_an_average_of_windows_is_fed_is_added_up_in_any_order() -> None:
    numbers = {name: BoundedNumbers(subject_named(name), FORM) for name in ("model_average", "clip_by_norm", "sgd")}
    kinds = {name: type(each.array(np.ones(1, np.float32))) for name, each in numbers.items()}
    assert kinds == {"model_average": Summand, "clip_by_norm": Bounded, "sgd": Bounded}


@pytest.mark.parametrize("begin", [begin for name, begin in HONEST if name == "model_average"])
def test_a_mean_over_a_list_conforms_where_sums_cancel(begin: Any) -> None:
    fed = tuple((np.array([number]),) for number in CANCELLING)
    hyper = {"average_window_rate": 1.0, "min_average_window": 9, "max_average_window": 9}
    case = Case("model_average", "float32", hyper, (1.0,) * len(fed), (np.zeros(1, np.float32),), fed)
    after = trajectory(Instead(begin, "model_average"), case, Guard())
    assert compare(after, expected(case), FORM).share <= 1
    assert begin is not MeanOfList or not np.array_equal(after[-1], [np.sum(CANCELLING) / 5])
