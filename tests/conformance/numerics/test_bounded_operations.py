"""Every operation of `Bounded` alone, on operands with any bounds: never exceeded, and not looser than needed.

The worst case of one operation is known: the operands lie at the ends of their intervals, and the result is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, SMALLEST, Format, side_by_side
from tests.conformance import rationals
from tests.conformance.rationals import Direction, Number, fractions, rounded

pytestmark = pytest.mark.usefixtures("quietly")

TIGHT = 0.85
"""The share of its bound that the worst case of an operation must come to, for some operands at least.

No square of a bfloat16 comes nearer than 0.891: there are but 128 of them from 1 to 2.
"""

MOSTLY_TIGHT = 0.8
"""The same for most operands, where what they bring along outweighs the rounding of the result."""

formats = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)

Exact = Callable[..., Number]
OPERATIONS: dict[str, tuple[Callable[..., Any], Exact]] = {
    "add": (np.add, lambda a, b: a + b),
    "subtract": (np.subtract, lambda a, b: a - b),
    "multiply": (np.multiply, lambda a, b: a * b),
    "divide": (np.divide, rationals.quotient),
    "maximum": (np.maximum, max),
    "minimum": (np.minimum, min),
    "power": (np.power, rationals.power),
    "absolute": (np.abs, abs),
    "negative": (np.negative, lambda a: -a),
    "square": (np.square, lambda a: a * a),
    "sqrt": (np.sqrt, rationals.sqrt),
    "cbrt": (np.cbrt, rationals.cbrt),
    "a ** 0.5": (lambda a: a**0.5, rationals.sqrt),
    "a ** -0.5": (lambda a: a**-0.5, lambda a: rationals.power(a, Fraction(-1, 2))),
    "a ** -1": (lambda a: a**-1, lambda a: rationals.power(a, Fraction(-1))),
    "a ** 2": (lambda a: a**2, lambda a: a**2),
    "a ** 3": (lambda a: a**3, lambda a: a**3),
    "a ** 20": (lambda a: a**20, lambda a: a**20),
}
"""Each operation on `Bounded`, and on exact numbers."""

BINARY = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power"}
NOT_ROUNDED = {"absolute", "negative", "maximum", "minimum"}
OF_NONNEGATIVE = {"sqrt", "power", "a ** 0.5", "a ** -0.5"}
FAITHFUL = {"power", "cbrt", "a ** 0.5", "a ** -0.5", "a ** -1", "a ** 2", "a ** 3", "a ** 20"}
MULTIPLIED_OUT = {"a ** 2": 2, "a ** 3": 3, "a ** 20": 20}
UNDERFLOWING = ("multiply", "divide", "square", "a ** 2")

UNCERTAINTIES = {"first": (40, 0), "second": (0, 40), "both": (40, 40), "barely": (0.6, 0.6), "mostly": (1e18, 0)}
"""Bounds of the operands in units of u times their size; at most nine times their size."""


def operands(op: str, form: Format, count: int, uncertainties: tuple[float, float], scale: float = 1) -> list[Bounded]:
    """Random operands; a few of a power with any exponent, whose exact value takes a hundred roots, or of 1/3."""
    count = count // 10 if op in ("power", "cbrt") else count
    rng = np.random.default_rng(sum(map(ord, op)))
    drawn = []
    for uncertainty in uncertainties[: 2 if op in BINARY else 1]:
        size = rng.uniform(0.5, 2, count)
        sign = 1 if op in OF_NONNEGATIVE else rng.choice([-1, 1], count)
        exact = Bounded.exact((size * sign * scale).astype(form.dtype), form)
        bound = np.abs(exact.value) * min(uncertainty * form.roundoff, 9)
        drawn.append(Bounded(exact.value, bound, form, op in OF_NONNEGATIVE))
    return drawn


def outcomes(op: str, base: Fraction, exact: Fraction, form: Format) -> list[Number]:
    """What an implementation may make of an exact result."""
    if op in NOT_ROUNDED:
        return [exact]
    running: Number = base
    for _ in range(MULTIPLIED_OUT.get(op, 1) - 1):
        running = None if running is None else rounded(running * base, form)
    ways = list(Direction) if op in FAITHFUL else [Direction.NEAREST]
    results = [exact, as_a_power(base, form)] if op == "cbrt" else [exact]
    rounded_once = [rounded(result, form, way) for result in results for way in ways]
    return rounded_once + ([running] if op in MULTIPLIED_OUT else [])


def as_a_power(base: Fraction, form: Format) -> Fraction:
    """A cube root computed as the power 1/3, which the format rounds."""
    third = fractions(form.dtype.type(1 / 3)).item()
    return (rationals.power(abs(base), third) or Fraction(0)) * (1 if base > 0 else -1)


def worst_shares(op: str, xs: list[Bounded]) -> list[float]:
    """How much of its bound the worst case of each element takes; the test fails where it takes more than all of it."""
    apply, exact = OPERATIONS[op]
    result: Bounded = apply(*xs)
    value, bound = fractions(result.value), fractions(result.bound)
    ends = [(fractions(x.value) - fractions(x.bound), fractions(x.value) + fractions(x.bound)) for x in xs]
    ends = [(np.maximum(low, 0) if x.nonnegative else low, high) for x, (low, high) in zip(xs, ends, strict=True)]
    shares = []
    for i in np.ndindex(value.shape):
        if bound[i] is not None:
            worst = Fraction(0)
            for corner in product(*({low[i], high[i]} for low, high in ends)):
                number = exact(*corner)
                assert number is not None, f"{op} of {[float(x) for x in corner]} is infinite, and has a bound"
                for outcome in outcomes(op, corner[0], number, result.form):
                    assert outcome is not None, f"{op} of {[float(x) for x in corner]} overflows, and has a bound"
                    worst = max(worst, abs(outcome - value[i]))
            assert worst <= bound[i], f"{op}: {float(worst)} from {float(value[i])} ± {float(bound[i])}"
            shares.append(float(worst / bound[i]) if bound[i] else 1.0)
    return shares


@formats
@pytest.mark.parametrize("op", [op for op in OPERATIONS if op not in ("a ** 3", "a ** 20")])
def test_the_rounding_of_exact_operands_reaches_its_bound(op: str, form: Format) -> None:
    """Each operation "adds u times the largest possible result"; a faithfully rounded power errs by 2u."""
    xs = operands(op, form, 800, (0, 0))
    shares = worst_shares(op, xs)
    assert len(shares) == xs[0].value.size
    assert max(shares) > TIGHT


@formats
@pytest.mark.parametrize("op", UNDERFLOWING)
def test_underflow_reaches_its_bound(op: str, form: Format) -> None:
    """Or "half the smallest subnormal where a product or a quotient underflows"; of float64 the whole."""
    xs = operands(op, form, 200, (0, 0), scale=3 * float(np.sqrt(form.tiny)))
    if op == "divide":
        xs = [operands(op, form, 200, (0, 0), scale=9 * form.tiny)[0], operands(op, form, 200, (0, 0))[1]]
    part = 0.5 if form.half_tiny == SMALLEST else 1
    assert max(worst_shares(op, xs)) > part * TIGHT / (2 if op in FAITHFUL else 1)


@formats
@pytest.mark.parametrize("uncertain", UNCERTAINTIES)
@pytest.mark.parametrize("op", OPERATIONS)
def test_what_operands_bring_along_reaches_its_bound(op: str, uncertain: str, form: Format) -> None:
    """Each operation "propagates its operands' bounds"."""
    xs = operands(op, form, 20, UNCERTAINTIES[uncertain])
    shares = worst_shares(op, xs)
    assert uncertain == "mostly" or np.median(shares) > (MOSTLY_TIGHT if uncertain in ("first", "both") else 0)


@formats
@pytest.mark.parametrize(("last", "least_share"), [((), TIGHT), ((-1,), TIGHT / 2)], ids=["positive", "cancelling"])
def test_the_worst_order_of_a_sum_reaches_its_bound(last: tuple[int, ...], least_share: float, form: Format) -> None:
    """The bound of a sum "holds for every order of summation", and some order needs nearly all of it."""
    half_ulp = float(np.spacing(form.dtype.type(1))) / 2
    terms = np.array([1, *[half_ulp] * 16, *last], form.dtype)
    one_by_one: Number = Fraction(0)
    for term in fractions(terms):
        one_by_one = None if one_by_one is None else rounded(one_by_one + term, form)
    assert one_by_one == 1 + sum(last)  # each of the small terms is lost
    operand: Any = Bounded.exact(terms, form)
    total = np.sum(operand, initial=0.0)
    value, bound = fractions(total.value).item(), fractions(total.bound).item()
    assert least_share < (value - one_by_one) / bound <= 1


@pytest.mark.parametrize("exponent", range(2, 9))
def test_a_power_multiplied_out_keeps_its_bound_for_every_number_of_half_precision(exponent: int) -> None:
    """``x*x*x*x`` rounds three times, and the worst x of all errs by more than two roundings."""
    form = FORMATS["float16"]
    base = (1 + np.arange(1024) / 1024).astype(form.dtype)
    running = base.copy()
    for _ in range(exponent - 1):
        running = running * base
    result = Bounded.exact(base, form) ** exponent
    apart = np.abs(fractions(running.astype(form.wide)) - fractions(base.astype(form.wide)) ** exponent)
    shares = [float(distance / bound) for distance, bound in zip(apart, fractions(result.bound), strict=True)]
    assert max(shares) <= 1
    assert exponent != 4 or max(shares) > 2 / 3, "more than two of the three roundings, or this test means nothing"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [-1.0, 0.0, 2.0, 3.5, 7.0])
def test_a_power_of_the_numbers_of_cases_has_the_bits_that_each_gets_alone(dtype: str, exponent: float) -> None:
    """The same number with another bound is another base; so is -0."""
    form = side_by_side(FORMATS[dtype])
    value = np.array([0.9, 0.5, 0.9, 0.9, 1.5, 0.5, 0.0, -0.0, np.inf]).astype(form.wide)
    bound = np.array([1e-9, 0.0, 1e-9, 2e-9, 0.0, 1e-9, 0.0, 0.0, np.inf])
    number = Bounded(np.asarray(exponent).astype(form.wide), np.zeros(()), form)
    with np.errstate(all="ignore"):
        together = Bounded(value, bound, form) ** number
        alone = [Bounded(value[i : i + 1], bound[i : i + 1], form) ** number for i in range(len(value))]
    assert together.value.tobytes() == b"".join(each.value.tobytes() for each in alone)
    assert together.bound.tobytes() == b"".join(each.bound.tobytes() for each in alone)
