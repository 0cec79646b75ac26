"""Slots that are held in less precision and computed with there: as frameworks have it, and to the last bit."""

from __future__ import annotations

from functools import partial
from importlib import util
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.runs.narrow_slots import BOUNDS, FACTORS, PRODUCTS, RESULTS, SUMS, UPDATED, Narrow
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.targets import for_numpy, for_optax

FORM = FORMATS["float32"]
HALF = np.array([1.0078125, -3.984375, 0.0, 2.0**-100], ml_dtypes.bfloat16)
"""Numbers of bfloat16, of which most products with 0.9 are not."""

NUMBER = Bounded.scalar(np.float32(0.9), FORM).remembering()
OTHERS = np.array([0.001, 0.002, 0.003, 0.004], np.float32)


def slot(*rounds: str) -> Narrow:
    return Narrow(Bounded.exact(HALF.astype(np.float32), FORM), "bfloat16", rounds)


def in_bfloat16(array: np.ndarray) -> np.ndarray:
    return array.astype(ml_dtypes.bfloat16).astype(np.float64)


class AdamaxAboveZero:
    """Adamax whose divisor has a term that shows beside the smallest gradients alone: Torch7's, with 1e-38."""

    def __init__(self, beta1=0.9, beta2=0.999):
        self.beta1, self.beta2, self.t, self.m, self.u = beta1, beta2, 0, 0.0, 0.0

    def update(self, weight, grad, lr):
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * grad
        self.u = np.maximum(self.beta2 * self.u, np.abs(grad) + 1e-38)
        return weight - lr / (1 - self.beta1**self.t) * self.m / self.u


@pytest.mark.slow
def test_no_slot_is_called_narrow_where_no_digit_is_missing() -> None:
    """The bound of a slot in float32 is so wide that it holds this target in float64, of which all digits are there."""
    target = for_numpy(AdamaxAboveZero, "papers.adamax")
    (verdict,) = judge([target], "papers.adamax", "float64", effort=Effort("few", 40, 2), seed=0, search=None)
    assert verdict.verdict == "diverges"
    assert "keeps" not in verdict.reason


@pytest.mark.parametrize("swapped", [False, True])
def test_a_product_with_a_rounded_number_is_that_of_the_format(swapped: bool) -> None:
    x = slot(FACTORS, PRODUCTS)
    product = NUMBER * x if swapped else x * NUMBER
    np.testing.assert_array_equal(product.value, (HALF * ml_dtypes.bfloat16(0.9)).astype(np.float64))
    np.testing.assert_array_equal(product.bound, 0)


def test_a_compiler_keeps_the_product_of_a_rounded_number() -> None:
    product = slot(FACTORS) * 0.9
    np.testing.assert_array_equal(product.value, HALF.astype(np.float64) * float(ml_dtypes.bfloat16(0.9)))
    assert not np.array_equal(product.value, in_bfloat16(product.value))


def test_a_product_in_place_is_of_the_number_as_it_is() -> None:
    product = slot(PRODUCTS) * NUMBER
    np.testing.assert_array_equal(product.value, in_bfloat16(HALF.astype(np.float64) * float(np.float32(0.9))))
    assert not np.array_equal(product.value, (slot(FACTORS, PRODUCTS) * NUMBER).value)


def test_what_is_new_is_rounded_where_the_step_uses_it() -> None:
    new = Bounded.exact(OTHERS, FORM)
    for after in (slot(SUMS) + new, new + slot(SUMS)):
        np.testing.assert_array_equal(after.value, in_bfloat16(HALF.astype(np.float64) + OTHERS.astype(np.float64)))
    wide = slot() + new
    np.testing.assert_array_equal(wide.value, HALF.astype(np.float64) + OTHERS.astype(np.float64))


SINGLE = np.array([0.1, 3.0, 2.0**-20, 2.0**-140], np.float32)
WIDE = FORMATS["float64"]


def single(*behind: str) -> Narrow:
    return Narrow(Bounded.exact(SINGLE.astype(WIDE.wide), WIDE), "float32", UPDATED, behind)


def divisors(*behind: str) -> tuple[np.ndarray, Bounded]:
    """What NumPy makes of a slot in float32, and what a way of rounding knows of it."""
    new = np.square(np.array([0.7, 1e-3, 1e-4, 1e-30]))
    moment = 0.9 * single(*behind) + Bounded.exact(new.astype(WIDE.wide), WIDE)
    stored = (np.float32(0.9) * SINGLE + new).astype(np.float32)
    np.testing.assert_array_equal(moment.value, stored)
    np.testing.assert_array_equal(moment.bound, 0)
    return np.sqrt(stored) + np.float32(1e-8), np.sqrt(moment) + 1e-8


def test_in_the_order_of_the_formula_what_is_made_of_a_slot_is_known_exactly() -> None:
    computed, divisor = divisors(RESULTS)
    np.testing.assert_array_equal(divisor.value, computed)
    np.testing.assert_array_equal(divisor.bound, 0)


def test_in_another_order_it_has_the_bound_of_its_format() -> None:
    computed, divisor = divisors(BOUNDS)
    assert (np.abs(computed - divisor.value) <= divisor.bound).all()
    assert (divisor.bound <= 2.0**-21 * divisor.magnitude).all()
    assert (divisor.bound > 0).all()


@pytest.mark.parametrize("behind", [RESULTS, BOUNDS])
def test_what_a_wide_array_takes_part_in_is_computed_as_wide(behind: str) -> None:
    _, divisor = divisors(behind)
    step = Bounded.exact(np.array([0.7, 1e-3, 0.5, 0.1]).astype(WIDE.wide), WIDE) * divisor
    assert not isinstance(step, Narrow)
    assert (step.bound / step.magnitude < 1.01 * (divisor.bound / divisor.magnitude) + 2.0**-52).all()


@pytest.mark.parametrize(("behind", "wide"), [((RESULTS,), True), ((FACTORS, PRODUCTS, RESULTS), False)])
def test_a_rate_is_a_number_of_python_or_one_of_float64(behind: tuple[str, ...], wide: bool) -> None:
    moment = 1.0 * single(*behind) + Bounded.exact(np.zeros(4).astype(WIDE.wide), WIDE)
    product = 0.1 * moment
    expected = 0.1 * SINGLE.astype(np.float64) if wide else np.float32(0.1) * SINGLE
    np.testing.assert_allclose(product.value.astype(np.float64), expected, rtol=2.0**-52, atol=0)
    assert isinstance(product, Narrow) != wide


class WithMoment:
    """Adagrad with decay, by NumPy, whose moment is made in a dtype, and whose divisor is enlarged."""

    def __init__(self, dtype: Any, factor: float = 1, decay: float = 0.95, epsilon: float = 1e-6) -> None:
        self.decay, self.epsilon, self.dtype, self.factor, self.moment = decay, epsilon, dtype, factor, None

    def update(self, weight: Any, grad: Any, lr: float) -> Any:
        moment = np.zeros(weight.shape, self.dtype) if self.moment is None else self.moment
        self.moment = np.asarray(self.decay * moment + (1 - self.decay) * grad * grad, self.dtype)
        return weight - lr * grad / (np.sqrt(self.moment) * self.factor + self.epsilon)


def judged(target: Any) -> Any:
    (verdict,) = judge([target], "decayed_adagrad", "float64", effort=Effort("few", 40, 2), seed=0, search=None)
    return verdict


def test_a_slot_in_float32_is_told_from_numbers_that_are_combined_there() -> None:
    verdict = judged(for_numpy(partial(WithMoment, np.float32), "decayed_adagrad"))
    assert verdict.verdict == "imprecise"
    assert verdict.reason == "computes the documented rule, but uses moment in float32"


def test_a_divisor_that_is_off_by_as_much_as_float32_rounds_is_no_slot_in_float32() -> None:
    verdict = judged(for_numpy(partial(WithMoment, np.float64, 1 + 2.0**-24), "decayed_adagrad"))
    assert verdict.verdict == "diverges"
    assert "float32" not in str(verdict.computes)


def test_an_array_is_no_number() -> None:
    product = slot(FACTORS, PRODUCTS) * Bounded.exact(OTHERS, FORM)
    np.testing.assert_array_equal(product.value, HALF.astype(np.float64) * OTHERS.astype(np.float64))


@pytest.mark.slow
@pytest.mark.skipif(not all(map(util.find_spec, ("jax", "optax"))), reason="needs jax and optax")
def test_optax_is_named_eager_compiled_and_in_a_tree() -> None:
    import jax.numpy as jnp
    import optax

    def heavy_ball(learning_rate, momentum, use_nesterov):
        return optax.sgd(learning_rate, momentum, use_nesterov, accumulator_dtype=jnp.bfloat16)

    effort = Effort("few", 12, 1)
    engines = for_optax(heavy_ball, "momentum").engines()
    verdicts = judge(engines, "momentum", "float32", effort=effort, seed=0, search=None)
    assert {verdict.engine: verdict.reason for verdict in verdicts} == {
        "eager": "computes the documented rule, but keeps velocity in bfloat16, multiplied there",
        "jit": "computes the documented rule, but keeps velocity in bfloat16, multiplied by numbers rounded to it",
        "tree": "computes the documented rule, but keeps velocity in bfloat16, multiplied there",
    }
