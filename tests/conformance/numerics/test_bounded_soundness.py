"""The invariant of `Bounded`, held against exact rational arithmetic: a bound is never exceeded.

"A working-precision evaluation of the same expression lies within ``x.value ± x.bound``." An expression is evaluated
on `Bounded`, exactly, in NumPy and in several other honest ways, and every node of it is compared.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, MARGIN, Format, flushing, scalar_format
from tests.conformance import expressions, rationals
from tests.conformance.expressions import Expression, Honest, evaluate
from tests.conformance.rationals import fractions

pytestmark = pytest.mark.usefixtures("quietly")

ELEMENTS = 4
HONEST = 4
WIDE_ERROR = Fraction(MARGIN) - 1
"""The part of a bound that pays for the wide value's own error."""

formats = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
with_flushing = pytest.mark.parametrize(
    "form", [*FORMATS.values(), flushing(FORMATS["float32"])], ids=[*FORMATS, "float32 flushing"]
)
deterministic = settings(deadline=None, derandomize=True, database=None)
trees = expressions.expressions(4)
kinds = st.lists(st.sampled_from(list(expressions.MAGNITUDES)), min_size=3, max_size=3)
seeds = st.integers(0, 2**32 - 1)


def assert_within(computed: Any, bounded: Bounded, part: Fraction = Fraction(1)) -> None:
    """Every element of ``computed`` (None: infinite or NaN) is within that part of the bound, where there is one."""
    values, bounds = fractions(bounded.value), fractions(bounded.bound)
    assert computed.shape == values.shape == bounds.shape
    for number, value, bound in zip(computed.flat, values.flat, bounds.flat, strict=True):
        if bound is not None:
            assert value is not None
            assert number is not None, f"not finite, within {float(value)} ± {float(bound)}"
            assert abs(number - value) <= part * bound, f"{float(number)}, not in {float(value)} ± {float(bound)}"
            assert not bounded.nonnegative or number >= 0


def _is_decided(node: Expression, bounded: dict[Expression, Any]) -> bool:
    """Whether one branch is taken for certain, so that the wide value follows the exact one."""
    x = [bounded[arg] for arg in node.args]
    if node.op == "sign":
        return bool(np.all((np.abs(x[0].value) > x[0].bound) | (x[0].bound == 0)))
    if node.op == "guard":
        return not np.any(((x[0] > 0) & (x[1] > 0)).undecided)
    return node.op not in expressions.COMPARISONS or not np.any(expressions.COMPARISONS[node.op](x[0], x[1]).undecided)


@with_flushing
@settings(deterministic, max_examples=300)
@given(root=trees, kinds=kinds, seed=seeds)
def test_no_honest_evaluation_leaves_the_bound(form: Format, root: Expression, kinds: list[str], seed: int) -> None:
    """Each operation propagates its operands' bounds and adds its own rounding."""
    rng = np.random.default_rng(seed)
    arrays = expressions.draw_arrays(rng, form, kinds, ELEMENTS)
    bounded = evaluate(root, expressions.with_bounds(arrays, form))
    judged = {node: value for node, value in bounded.items() if isinstance(value, Bounded)}
    exact = evaluate(root, expressions.exactly(arrays))
    plain = evaluate(root, expressions.in_working_precision(arrays))
    decided = all(_is_decided(node, bounded) for node in judged)
    for node, value in judged.items():
        assert_within(exact[node], value, WIDE_ERROR if decided else Fraction(1))
        assert_within(fractions(plain[node]), value)
    for _ in range(HONEST):
        honest = Honest(arrays, form, rng)
        values = evaluate(root, honest.apply)
        for node, value in judged.items():
            assert_within(honest.stored(node, values[node]), value)


Interval = tuple[Fraction, Fraction]


@formats
@settings(deterministic, max_examples=300)
@given(root=trees, kinds=kinds, seed=seeds)
def test_a_bound_is_given_up_only_for_a_reason(form: Format, root: Expression, kinds: list[str], seed: int) -> None:
    """Not finite means: "the working format may overflow, a divisor may be zero, or a radicand negative"."""
    arrays = expressions.draw_arrays(np.random.default_rng(seed), form, kinds, ELEMENTS)
    bounded = evaluate(root, expressions.with_bounds(arrays, form))
    for node in bounded:
        held = scalar_format(form) if node.is_scalar else form
        operands = [_held(bounded[arg], held) for arg in node.args]
        given_up: Any = np.argwhere(~np.isfinite(bounded[node].bound)) if operands else []
        for index in map(tuple, given_up):
            at = [_intervals(operand, bounded[node].shape, ... if node.op == "sum" else index) for operand in operands]
            if all(at):  # there was a bound before
                assert _may_fail(node.op, at, operands[0].nonnegative, held)


def _held(operand: Any, form: Format) -> Bounded:
    return operand.held_in(form) if isinstance(operand, Bounded) else Bounded.scalar(operand, form)


def _intervals(operand: Bounded, shape: tuple[int, ...], index: Any) -> list[Interval]:
    """Where the elements of an operand that matter for one of the result may lie; none, if nothing is known."""
    shape = operand.shape if index is ... else shape
    value, bound = (fractions(np.broadcast_to(x, shape)[index]).reshape(-1) for x in (operand.value, operand.bound))
    return [] if None in bound else [(v - b, v + b) for v, b in zip(value, bound, strict=True)]


def _may_fail(op: str, operands: list[list[Interval]], nonnegative: bool, form: Format) -> bool:
    """Whether some numbers in these intervals have a result that overflows, or none."""
    low, high = operands[0][0] if operands[0] else (Fraction(0), Fraction(0))
    other_low, other_high = operands[-1][0] if operands[-1] else (Fraction(0), Fraction(0))
    size, other_size = max(-low, high), max(-other_low, other_high)
    match op:
        case "add" | "complement":
            reach = max(-low - other_low, high + other_high) if op == "add" else max(low - 1, high - 1, 1 - low)
        case "subtract":
            reach = max(high - other_low, other_high - low)
        case "multiply" | "square":
            reach = size * other_size
        case "divide":
            if other_low <= 0 <= other_high:
                return True
            reach = size / min(abs(other_low), abs(other_high))
        case "sqrt":
            return low < 0 and not nonnegative
        case "power":
            if (low <= 0 <= high and other_low < 0) or (low < 0 and not nonnegative and other_low % 1):
                return True
            powers = [rationals.power(abs(x), y) for x, y in product((low, high), (other_low, other_high))]
            reach = max(number for number in powers if number is not None)
        case "sum":
            reach = sum((max(-a, b) for a, b in operands[0]), Fraction(0))
        case _:
            return False
    return reach * Fraction(1 + 16 * form.roundoff) > Fraction(form.largest)
