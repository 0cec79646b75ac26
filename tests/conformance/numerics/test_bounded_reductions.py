"""Sums, means and products of matrices of `Bounded`, held against exact rational arithmetic in random orders."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, Format, flushing
from tests.conformance.bounds import exact, formats
from tests.conformance.expressions import MAGNITUDES
from tests.conformance.rationals import Number, fractions, rounded

pytestmark = pytest.mark.usefixtures("quietly")

ORDERS = 6
"""How often the same terms are added, each time in another order."""

with_flushing = pytest.mark.parametrize(
    "form", [*FORMATS.values(), flushing(FORMATS["float32"])], ids=[*FORMATS, "float32 flushing"]
)
kinds = pytest.mark.parametrize("kind", MAGNITUDES)

Axis = int | tuple[int, ...] | None
AXES: dict[str, tuple[tuple[int, ...], Axis]] = {
    "all": ((3, 4), None),
    "rows": ((3, 4), -1),
    "columns": ((3, 4), -2),
    "rows of several matrices": ((2, 3, 2), -1),
    "columns of several matrices": ((2, 3, 2), -2),
    "matrices": ((2, 2, 3), (-2, -1)),
    "one column": ((5, 1), -1),
    "one row": ((1, 5), -1),
    "a vector": ((6,), -1),
    "one number": ((), None),
}


class Honest:
    """One honest implementation, in rational arithmetic: its order, and where it rounds, are drawn."""

    def __init__(self, form: Format, rng: np.random.Generator) -> None:
        self.form, self.rng = form, rng

    def kept(self, number: Number) -> Number:
        """What is left of a result: mostly it is rounded, and where subnormals may be flushed, perhaps 0."""
        if self.rng.random() < 0.2:
            return number  # in a wider register, or contracted with what follows
        number = rounded(number, self.form)
        flushed = number is not None and self.form.flushes and abs(number) < self.form.smallest_normal
        return Fraction(0) if flushed and self.rng.random() < 0.5 else number

    def total(self, terms: list[Number]) -> Number:
        """The sum in a random order, of terms and of partial sums alike; adding zero rounds nothing."""
        terms = [term for term in terms if term != 0]
        alone = len(terms) == 1
        while len(terms) > 1:
            i, j = sorted(self.rng.choice(len(terms), 2, replace=False), reverse=True)
            a, b = terms.pop(i), terms.pop(j)
            terms.append(None if a is None or b is None else self.kept(a + b))
        total = terms[0] if terms else Fraction(0)
        return total if alone else rounded(total, self.form)

    def mean(self, terms: list[Number]) -> Number:
        count, total = len(terms), self.total(terms)
        return None if total is None else rounded(total / count, self.form)

    def dot(self, row: list[Number], column: list[Number]) -> Number:
        pairs = zip(row, column, strict=True)
        return rounded(self.total([None if a is None or b is None else self.kept(a * b) for a, b in pairs]), self.form)


def operand(rng: np.random.Generator, form: Format, kind: str, shape: tuple[int, ...], uncertain: bool) -> Bounded:
    """An array of numbers, one in five of which is 0, exact or with bounds."""
    drawn: Any = MAGNITUDES[kind](rng, form, int(np.prod(shape))).reshape(shape) * (rng.random(shape) < 0.8)
    numbers: Bounded = exact(drawn.astype(form.dtype), form)
    return Bounded(numbers.value, np.abs(numbers.value) * 3 * form.roundoff, form) if uncertain else numbers


def within(x: Bounded, rng: np.random.Generator) -> Any:
    """Numbers that an operand may stand for: its value, or an end of its interval."""
    ends = np.frompyfunc(lambda value, bound: value + int(rng.integers(-1, 2)) * bound, 2, 1)
    return np.asarray(ends(fractions(x.value), fractions(x.bound)), object)


def assert_within(computed: Number, value: Number, bound: Number) -> None:
    if bound is not None:
        assert computed is not None
        assert value is not None
        assert abs(computed - value) <= bound, f"{float(computed)}, not in {float(value)} ± {float(bound)}"


def slices(array: Any, axis: Axis) -> Any:
    """The terms of each sum, in the last axis."""
    if axis is None:
        return array.reshape(-1)
    axes = axis if isinstance(axis, tuple) else (axis,)
    last = np.moveaxis(array, axes, range(-len(axes), 0))
    return last.reshape(*last.shape[: array.ndim - len(axes)], -1)


@with_flushing
@kinds
@pytest.mark.parametrize("uncertain", [False, True], ids=["exact", "uncertain"])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_no_order_of_a_sum_leaves_its_bound(name: str, uncertain: bool, kind: str, form: Format) -> None:
    rng = np.random.default_rng(sum(map(ord, kind + name)))
    for shape, axis in AXES.values():
        x: Any = operand(rng, form, kind, shape, uncertain)
        result = getattr(np, name)(x, axis=axis, keepdims=axis is not None)
        assert result.shape == getattr(np, name)(x.value, axis=axis, keepdims=axis is not None).shape
        values, bounds = (fractions(y).reshape(-1) for y in (result.value, result.bound))
        for _ in range(ORDERS):
            terms = slices(within(x, rng), axis).reshape(len(values), -1)
            for row, value, bound in zip(terms, values, bounds, strict=True):
                honest = Honest(form, rng)
                assert_within((honest.total if name == "sum" else honest.mean)(list(row)), value, bound)


@with_flushing
@kinds
@pytest.mark.parametrize("uncertain", [False, True], ids=["exact", "uncertain"])
def test_no_order_of_a_product_of_matrices_leaves_its_bound(uncertain: bool, kind: str, form: Format) -> None:
    rng = np.random.default_rng(sum(map(ord, kind)))
    for n, k, m in ((2, 3, 2), (1, 5, 1), (3, 1, 2)):
        a, b = (operand(rng, form, kind, shape, uncertain) for shape in ((n, k), (k, m)))
        result: Any = a @ b
        values, bounds = fractions(result.value), fractions(result.bound)
        assert values.shape == (n, m)
        for _ in range(ORDERS):
            rows, columns = within(a, rng), within(b, rng)
            for i, j in np.ndindex(n, m):
                dot = Honest(form, rng).dot(list(rows[i]), list(columns[:, j]))
                assert_within(dot, values[i, j], bounds[i, j])


@formats
@pytest.mark.parametrize("name", ["sum", "mean", "matmul"])
def test_the_worst_order_needs_most_of_the_bound(name: str, form: Format) -> None:
    """Sixteen terms of half an ulp are lost one by one where they are added to 1."""
    half_ulp = float(np.spacing(form.dtype.type(1))) / 2
    terms = np.array([[1, *[half_ulp] * 16]], form.dtype)
    row, column = exact(terms, form), exact(np.ones((17, 1), form.dtype), form)
    operations: dict[str, Callable[[], Any]] = {
        "sum": lambda: np.sum(row, axis=-1, keepdims=True),
        "mean": lambda: np.mean(row, axis=-1, keepdims=True),
        "matmul": lambda: row @ column,
    }
    result = operations[name]()
    one_by_one = rounded(Fraction(1, 17 if name == "mean" else 1), form)
    share = (fractions(result.value) - one_by_one) / fractions(result.bound)
    assert 0.8 < share.item() <= 1


@formats
def test_products_with_exact_zeros_are_exact(form: Format) -> None:
    """So guards on norms stay decided: a row of zeros stays one, and adding zeros costs nothing."""
    rows = exact(np.array([[0, 0, 0], [0, 3, 0]], form.dtype), form)
    columns = exact(np.array([[1, 5], [0.5, 0], [7, 7]], form.dtype), form)
    product = rows @ columns
    assert product.value.tolist() == [[0, 0], [1.5, 0]]
    assert product.bound[0].tolist() == [0, 0]
    assert product.bound[1, 1] == 0
    total = np.sum(rows, axis=-1, keepdims=True)
    assert (total.value.tolist(), total.bound.tolist()) == ([[0], [3]], [[0], [0]])


@formats
def test_a_transposed_matrix_has_transposed_bounds(form: Format) -> None:
    x: Any = operand(np.random.default_rng(0), form, "ordinary", (2, 3), uncertain=True)
    turned: Any = np.matrix_transpose(x)
    assert turned.shape == (3, 2)
    for i, j in np.ndindex(2, 3):
        assert turned.value[j, i] == x.value[i, j]
        assert turned.bound[j, i] == x.bound[i, j]
    product = fractions((x @ turned).value)
    assert product[0, 1] == product[1, 0]


@formats
def test_rows_and_columns_are_broadcast(form: Format) -> None:
    row, column = exact(np.array([[1, 2, 4]], form.dtype), form), exact(np.array([[1], [8]], form.dtype), form)
    product = row * column
    assert product.value.tolist() == [[1, 2, 4], [8, 16, 32]]
    assert product.bound.shape == (2, 3)
    assert np.all(product.bound > 0)


@formats
def test_what_may_overflow_in_some_order_is_not_known(form: Format) -> None:
    large = exact(np.array([[form.largest, form.largest, -form.largest]]).astype(form.dtype), form)
    assert not np.isfinite(np.sum(large).bound)
    assert not np.isfinite(np.mean(large).bound)
    assert not np.isfinite((large @ exact(np.ones((3, 1), form.dtype), form)).bound).any()
