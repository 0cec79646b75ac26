"""What is expected: exact where arithmetic is, sound in every case, and with no more room than is written down."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import (
    UNDERFLOW_ROOM,
    BoundedNumbers,
    decays_of,
    expected,
    with_underflow_room,
)
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.reference.rule import State
from optimetry.reference.rules.sgd import SGD


def fraction(number: Any) -> Fraction:
    """A number of any format, quad precision included, without rounding."""
    high = float(number)
    return Fraction(high) + Fraction(float(number - np.asarray(high).astype(number.dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_l2_decay_is_its_formula_in_exact_arithmetic(dtype: str) -> None:
    compared = 0
    for case in drawn_cases(subject_named("l2_decay"), dtype, seed=1, count=5):
        oracle, strength = expected(case), Fraction(case.hyper["regularization_coeff"])
        for step, fed in enumerate(case.grads):
            pairs = zip(fed, case.parameters, strict=True)
            exact = [
                Fraction(float(g)) + strength * Fraction(float(w))
                for grad, param in pairs
                for g, w in zip(grad.ravel() if grad is not None else (), param.ravel(), strict=True)
            ]
            for number, value, bound in zip(exact, oracle.value[step], oracle.bound[step], strict=True):
                assert abs(number - fraction(value)) <= fraction(bound)
                compared += 1
    assert compared > 100


def test_numbers_combined_in_float32_are_covered_in_any_order() -> None:
    """``b * sqrt(x / a)``, and the same with ``b / sqrt(a)`` formed in float32, from numbers that float32 has."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 4.0, (2, 200)).astype(np.float32)
    x = rng.uniform(0.5, 4.0, 200)
    in_float32 = np.sqrt(x) * (b / np.sqrt(a)).astype(np.float64)

    def beyond(combined: bool) -> int:
        numbers = BoundedNumbers(subject_named("sgd"), FORMATS["float64"], ("a", "b"), combined)
        outside = 0
        for p, q, z, number in zip(a.tolist(), b.tolist(), x, in_float32, strict=True):
            result = numbers.scalar("b", q) * np.sqrt(numbers.array(z) / numbers.scalar("a", p))
            outside += not abs(result.value - number) <= result.bound
        return outside

    assert not beyond(combined=True)
    assert beyond(combined=False) > 150, "numbers in float32 in some uses are exact, where float32 has them"


def underflowing(form_name: str, product: float) -> Case:
    """One step of SGD whose product of rate and gradient is subnormal."""
    dtype = FORMATS[form_name].dtype
    return Case("sgd", form_name, {}, (0.5,), (np.zeros(1, dtype),), ((np.array([product / 0.5]).astype(dtype),),))


@pytest.mark.parametrize(
    ("dtype", "room"), [("float32", 2.0**10), ("float64", 2.0**10), ("float16", 1.0), ("bfloat16", 1.0)]
)
def test_an_underflow_has_the_room_that_is_written_down(dtype: str, room: float) -> None:
    """Half the smallest subnormal times 2^10: enough for regrouped arithmetic, and far below flushing to zero."""
    form, shift = FORMATS[dtype], 2.0**200  # where half the smallest double is a number
    half = float(form.tiny) * shift / 2
    assert room in (UNDERFLOW_ROOM, 1.0)
    (bound,) = (expected(underflowing(dtype, 64 * float(form.tiny))).bound * shift).reshape(-1).astype(np.float64)
    assert room * half <= bound <= (room + 2) * half * 1.01
    assert SUBNORMAL[dtype] * with_underflow_room(form).half_tiny < form.smallest_normal


SUBNORMAL = {"float32": 2.0**12, "float64": 2.0**12, "float16": 2.0, "bfloat16": 2.0}
"""How many times its room a number must have to be told from one flushed to zero."""


@pytest.mark.parametrize("name", ["beta1", "beta2"])
def test_a_small_decay_may_be_held_as_one_minus_it(name: str) -> None:
    """``g + b*(m - g)`` has b from 1 - b: of 0.1 that has three bits less, of 1e-9 in float32 none is left."""
    subject = SUBJECTS["adam"]
    for dtype, kind in (("float32", np.float32), ("float64", np.float64)):
        numbers = BoundedNumbers(subject, FORMATS[dtype])
        for b in (0.1, 1e-9, 0.3, 0.999):
            held = abs(Fraction(float(kind(b))) - Fraction(b))
            complement = abs(Fraction(float(kind(1 - b))) - (1 - Fraction(b)))
            bound = fraction(numbers.scalar(name, b).bound)
            assert max(held, complement) <= bound <= 2 * max(held, complement)
            assert fraction(numbers.scalar("epsilon", b).bound) <= 2 * held
    assert decays_of(subject) == {"beta1", "beta2"}
    assert decays_of(SUBJECTS["lamb"]) == {"beta1", "beta2"}
    assert decays_of(SUBJECTS["exponential_moving_average"]) == {"decay"}


def test_numbers_that_may_be_held_in_float32_have_its_bound() -> None:
    numbers = BoundedNumbers(SUBJECTS["adam"], FORMATS["float64"], ("epsilon",))
    assert float(numbers.scalar("epsilon", 0.1).bound) == pytest.approx(0.1 * 2.0**-24, rel=1)
    assert float(numbers.scalar("learning_rate", 0.1).bound) < 1e-16


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_tensors_evaluated_together_are_what_each_is_alone(optimizer: str) -> None:
    """Where elements are independent, parameters are joined to be evaluated, which must not change a bit."""
    subject = SUBJECTS[optimizer]
    for case in drawn_cases(subject, "float32", seed=2, count=6):
        whole = expected(case)
        if subject.joint:
            continue
        start = 0
        for i, param in enumerate(case.parameters):
            alone, columns = expected(case.only([i])), slice(start, start + param.size)
            assert alone.value.tobytes() == np.ascontiguousarray(whole.value[:, columns]).tobytes()
            assert alone.bound.tobytes() == np.ascontiguousarray(whole.bound[:, columns]).tobytes()
            start += param.size


@pytest.mark.parametrize("optimizer", ["adam", "lamb", "clip_by_global_norm", "exponential_moving_average"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_steps_asked_for_one_after_the_other_are_those_of_the_whole(optimizer: str, dtype: str) -> None:
    for case in drawn_cases(subject_named(optimizer), dtype, seed=3, count=2):
        whole, parts, steps = expected(case), expected(case.replace()), len(case.grads)
        for first, behind in ((0, 1), (1, steps), (0, 3), (0, steps)):
            part = parts.steps(first, behind)
            assert part.value.tobytes() == whole.value[first:behind].tobytes()
            assert part.bound.tobytes() == whole.bound[first:behind].tobytes()


@dataclass(frozen=True, kw_only=True)
class Breaking(SGD):
    """Stochastic gradient descent that cannot do a third step."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        if t == 3:
            raise KeyError("third")
        return super().update(param, grad, state, lr, t)


def test_a_step_is_not_evaluated_before_it_is_asked_for_and_an_error_there_is_raised_each_time() -> None:
    ones = np.ones(2, np.float32)
    value = expected(Case("sgd", "float32", {}, (0.1,) * 5, (ones,), ((ones,),) * 5), Breaking())
    for _ in range(2):
        np.testing.assert_array_equal(np.round(value.steps(0, 2).value.astype(float), 5), [[0.9, 0.9], [0.8, 0.8]])
        with pytest.raises(KeyError, match="third"):
            value.steps(1, 3)
        with pytest.raises(KeyError, match="third"):
            _ = value.value


@pytest.mark.parametrize("decay", [0.5, 0.81, 0.999])
def test_powers_of_a_number_in_float32_may_be_accumulated_there(decay: float) -> None:
    """Beside float64, where a number is rounded once to float32 or not at all unless it is narrow."""
    form, exponents = FORMATS["float64"], range(1, 60)
    products = np.cumprod(np.full(len(exponents), decay, np.float32), dtype=np.float32).astype(np.float64)

    def largest(narrow: tuple[str, ...]) -> float:
        held = BoundedNumbers(subject_named("adam"), form, narrow).scalar("beta2", decay)
        powers: Any = [held**t for t in exponents]
        return max(
            (abs(product - power.value) / power.bound if product != power.value else 0.0)
            for product, power in zip(products, powers, strict=True)
        )

    assert largest(("beta2",)) <= 1
    assert (largest(()) > 1e6) == (decay != 0.5)
