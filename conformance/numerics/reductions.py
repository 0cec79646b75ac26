"""Bounds the sums, means and matrix products of `Bounded` numbers, whatever order their terms are added in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.numerics.bounded import UFUNCS, Bounded, enlarged, not_zero
from optimetry.conformance.numerics.formats import FORMATS, QUAD, Bound, Format, Wide, flushing
from optimetry.conformance.numerics.trilean import FUNCTIONS
from optimetry.reference.precision import in_bfloat16

Axis = int | tuple[int, ...] | None


def _totalled(value: Wide, propagated: Bound, largest: Bound, error: Bound, form: Format, nonnegative: bool) -> Bounded:
    """Bound a sum; one whose terms may add up to too much in some order is not known."""
    bound = np.where(largest + error > form.largest, np.inf, propagated + error)
    return Bounded(value, bound, form, nonnegative)


def in_any_order(
    value: Wide, propagated: Bound, largest: Bound, additions: Any, form: Format, nonnegative: bool
) -> Bounded:
    """Bound a sum for every order of its terms.

    Args:
        value: the wide sum.
        propagated: the sum of the terms' bounds.
        largest: the sum of their largest magnitudes, which no partial sum exceeds.
        additions: how many additions form it, a number or one for each element.
        form: the format that each of these is rounded to.
        nonnegative: see `Bounded`.
    """
    error = largest * form.growth(additions)
    if form.flushes:
        error = error + additions * form.half_tiny
    return _totalled(value, enlarged(propagated, additions), largest, error, form, nonnegative)


def _sum(a: Bounded, axis: Axis = None, keepdims: bool = False, initial: float = 0.0) -> Bounded:
    """The sum over all axes or some, with a bound that holds for every order of summation; ``initial`` is always 0."""
    if axis is None and a.form.scalar_axes:
        return _sum(_side_by_side(a), axis=1)

    over: dict[str, Any] = {"axis": axis, "keepdims": keepdims, "initial": 0.0}  # quad has no sum of no terms
    value, propagated, largest = (np.add.reduce(x, **over) for x in (a.value, a.bound, a.magnitude + a.bound))
    terms = np.count_nonzero(not_zero(a), axis=axis, keepdims=keepdims)
    return in_any_order(value, propagated, largest, np.maximum(terms - 1, 0), a.form, a.nonnegative)


def _side_by_side(a: Bounded) -> Bounded:
    """Return a row for each of the cases that stand side by side, as NumPy adds up rows as it does whole arrays."""
    value, bound = (np.ascontiguousarray(x.reshape(-1, x.shape[-1]).T) for x in (a.value, a.bound))
    return Bounded(value, bound, a.form, a.nonnegative)


def _mean(a: Bounded, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum divided by the number of terms; no term is divided before it is added."""
    total = _sum(a, axis, keepdims)
    return total / float(a.value.size // max(total.value.size, 1))


def _product(a: Wide, b: Wide) -> Wide:
    """Return the product of two matrices; that of numpy-quaddtype 1.0 is wrong where one is a transposed view."""
    if QUAD not in (a.dtype, b.dtype):
        return a @ b
    return sum(
        (a[..., :, k : k + 1] * b[..., k : k + 1, :] for k in range(a.shape[-1])),
        start=np.zeros((*a.shape[:-1], b.shape[-1]), a.dtype),
    )


def _matmul(a: Bounded, b: Bounded) -> Bounded:
    """The product of two matrices: each element is a sum of products, in any order, each rounded or contracted."""
    propagated = a.magnitude @ b.bound + a.bound @ (b.magnitude + b.bound)
    largest = (a.magnitude + a.bound) @ (b.magnitude + b.bound)
    terms = not_zero(a).astype(np.float64) @ not_zero(b).astype(np.float64)
    growth = a.form.growth(terms)
    underflows = terms * a.form.half_tiny * (1 + a.form.flushes)  # of products; where it is flushed, of sums as well
    error = largest * growth + underflows * (1 + growth)
    nonnegative = a.nonnegative and b.nonnegative
    return _totalled(_product(a.value, b.value), enlarged(propagated, terms), largest, error, a.form, nonnegative)


def _matrix_transpose(a: Bounded) -> Bounded:
    return Bounded(np.matrix_transpose(a.value), np.matrix_transpose(a.bound), a.form, a.nonnegative)


@in_bfloat16.register
def _(x: Bounded, function: Callable[[Bounded], Bounded]) -> Any:
    """The function's value with the bound of an evaluation in bfloat16; where no digit of it is right, none is known.

    An element whose bound exceeds the largest of all results is known to no digit.
    """
    form = FORMATS["bfloat16"]
    result = function(x.held_in(flushing(form) if x.form.flushes else form))
    largest = np.max(result.magnitude, initial=0.0)
    bound = np.where(result.bound > largest, np.inf, result.bound)
    return Bounded(result.value, bound, x.form, result.nonnegative) * 1.0  # rounded once, to the format it came from


UFUNCS[np.matmul] = _matmul
FUNCTIONS.update({np.sum: _sum, np.mean: _mean, np.matrix_transpose: _matrix_transpose})
