"""Slots that are held in less precision and computed with there: as frameworks have it, and to the last bit."""

from __future__ import annotations

from importlib import util

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.runs.narrow_slots import FACTORS, PRODUCTS, SUMS, Narrow
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
