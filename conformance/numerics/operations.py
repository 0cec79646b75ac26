"""Bounds what each elementwise operation of NumPy does to `Bounded` numbers: its operands' bounds, and its rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from optimetry.conformance.numerics.bounded import (
    UFUNCS,
    Bounded,
    alike,
    any_zero,
    enlarged,
    every,
    not_zero,
    rounded,
)
from optimetry.conformance.numerics.formats import BOUND, MARGIN, QUAD, Bound, Format, Wide
from optimetry.conformance.numerics.magnitudes import magnitude_of
from optimetry.conformance.numerics.trilean import FUNCTIONS, Trilean

POWER_ROUNDINGS = 2
"""Rounding errors allowed to a power with a fractional exponent: a faithfully rounded ``pow`` errs by 2u."""


def _add(a: Bounded, b: Bounded) -> Bounded:
    nonnegative = a.nonnegative and b.nonnegative
    return rounded(a.value + b.value, a.bound + b.bound, a.form, nonnegative, exact=any_zero(a, b))


def _subtract(a: Bounded, b: Bounded) -> Bounded:
    return rounded(a.value - b.value, a.bound + b.bound, a.form, False, exact=any_zero(a, b))


def _multiply(a: Bounded, b: Bounded) -> Bounded:
    propagated = a.magnitude * b.bound + (b.magnitude + b.bound) * a.bound
    nonnegative = a is b or (a.nonnegative and b.nonnegative)
    return rounded(a.value * b.value, propagated, a.form, nonnegative, underflows=(a, b))


def _square(a: Bounded) -> Bounded:
    propagated = (a.magnitude + a.magnitude + a.bound) * a.bound
    return rounded(a.value * a.value, propagated, a.form, True, underflows=(a,))


def _divide(a: Bounded, b: Bounded) -> Bounded:
    value = a.value / b.value
    magnitude = magnitude_of(value)
    nearest_zero = np.maximum(b.magnitude - b.bound, 0.0)  # and what is divided by 0 is not finite
    propagated = (a.bound + magnitude * b.bound) / nearest_zero
    nonnegative = a.nonnegative and b.nonnegative
    return rounded(value, propagated, a.form, nonnegative, underflows=(a,), magnitude=magnitude)


def _sqrt(a: Bounded) -> Bounded:
    """A root falls more steeply than it rises, by ``b / (sqrt(x) + sqrt(x - b))``, of which no digit cancels."""
    value = np.sqrt(a.value)
    root, low = magnitude_of(value), a.magnitude - a.bound
    low_root = np.sqrt(low)
    # Where zero is within reach, what cannot be negative falls to it at most, or rises by more; else nothing is known.
    to_zero = np.maximum(root, np.sqrt(a.magnitude + a.bound) - root) if a.nonnegative else root - low_root
    propagated = np.where(low > 0, a.bound / (root + low_root), to_zero)
    return rounded(value, propagated, a.form, True, magnitude=root)


def _cbrt(a: Bounded) -> Bounded:
    """A cube root, which may also be computed as a power, whose exponent is then rounded to working precision."""
    third = Bounded.scalar(np.asarray(1).astype(a.form.wide) / 3, a.form)
    root = _power(Bounded(np.abs(a.value), a.bound, a.form, True, a.scalars_in, a.magnitude), third)
    if a.nonnegative:
        return root
    beyond = np.cbrt(np.maximum(a.bound - a.magnitude, 0.0))  # on the other side of zero, if that is within reach
    return Bounded(np.copysign(root.value, a.value), root.bound + enlarged(beyond, POWER_ROUNDINGS), a.form)


def _power(a: Bounded, b: Bounded) -> Bounded:
    """A power, computed once for equal numbers of many cases: one in quad precision takes eight products."""
    if a.value.dtype != QUAD or not a.ndim == a.form.scalar_axes == 1 or b.ndim:
        return _each_power(a, b)
    first, of_each = _distinct(a)
    once = Bounded(a.value[first], a.bound[first], a.form, a.nonnegative, a.scalars_in)
    power = _each_power(once, b)
    return Bounded(power.value[of_each], power.bound[of_each], power.form, power.nonnegative)


def _distinct(a: Bounded) -> Any:
    """Return where each distinct number of a row stands first, and which of them each is; cached by hyperparameters."""
    known = {} if a.computed is None else a.computed
    if _distinct not in known:
        parts = (np.ascontiguousarray(part).view(np.uint8).reshape(len(part), -1) for part in (a.value, a.bound))
        bits = np.concatenate([*parts], axis=1)
        known[_distinct] = np.unique(bits.view(f"V{bits.shape[1]}")[:, 0], return_index=True, return_inverse=True)[1:]
    return known[_distinct]


def _each_power(a: Bounded, b: Bounded) -> Bounded:
    """A power: monotone in the base and in the exponent, so the corners bound it.

    A base that may have either sign needs a whole exponent (NumPy gives NaN for another). Corners bound an even power,
    too: if zero is within reach of the base, the far end of its interval is at twice its distance. They do not bound a
    pole.
    """
    fixed = b.ndim == 0 and bool(b.bound == 0)
    low, high = a.value - a.bound, a.value + a.bound
    exponents = (b.value,) if fixed else (b.value - b.bound, b.value + b.bound)
    value = _raised(a.value, b.value)
    bases = (np.maximum(low, 0.0) if a.nonnegative else low, high)
    corners = [_raised(base, exponent) - value for base in bases for exponent in exponents]
    propagated = reduce(np.maximum, map(magnitude_of, corners))
    if not a.nonnegative:
        propagated = np.where((low < 0) & (high >= 0) & (exponents[0] < 0), np.inf, propagated)

    whole = _whole(b)
    roundings = np.where(
        whole >= 1, np.maximum(whole - 1, POWER_ROUNDINGS), POWER_ROUNDINGS
    )  # it may be multiplied out
    relative = (magnitude_of(value) + propagated) * a.scalars_in.growth(roundings)
    error = np.maximum(relative, np.where(not_zero(a), roundings * a.scalars_in.half_tiny, 0.0))
    return _rounded_often(value, propagated, error, a.form, a.nonnegative or every(whole % 2 == 0))


def _rounded_often(value: Wide, propagated: Bound, error: Bound, form: Format, nonnegative: bool) -> Bounded:
    """Bound the result of an operation that is rounded several times, which may carry it beyond the largest number."""
    magnitude, bound = magnitude_of(value), enlarged(propagated, 1) + error
    bound = np.where(magnitude + bound > form.largest, np.inf, bound)
    return Bounded(value, bound, form, nonnegative, magnitude=magnitude)


def _raised(base: Any, exponent: Any) -> Any:
    """Return powers, to the last bit those by one number, where NumPy squares without looking for a logarithm."""
    if exponent.ndim != 1 or exponent.dtype == QUAD:
        return np.power(base, exponent)
    base = np.broadcast_to(base, np.broadcast_shapes(base.shape, exponent.shape))
    raised = np.empty_like(base)
    for number in np.unique(exponent):
        where = exponent == number if number == number else np.isnan(exponent)
        raised[..., where] = np.power(base[..., where], number)
    return raised


def _whole(exponent: Bounded) -> Any:
    """Return an exponent that is one whole number, or one for each case; NaN for any other."""
    if exponent.ndim > exponent.form.scalar_axes:
        return np.asarray(math.nan)
    value = exponent.value.astype(np.float64)
    return np.where((exponent.bound == 0) & (value == np.floor(value)), value, math.nan)


def _maximum(a: Bounded, b: Bounded) -> Bounded:
    gap, reach = (a.value - b.value).astype(BOUND), a.bound + b.bound
    either = np.where(gap < -reach, b.bound, np.maximum(a.bound, b.bound))
    bound = np.where(gap > reach, a.bound, either)
    return Bounded(np.maximum(a.value, b.value), bound, a.form, a.nonnegative or b.nonnegative)


def _minimum(a: Bounded, b: Bounded) -> Bounded:
    negated = _maximum(_negative(a), _negative(b))
    return Bounded(-negated.value, negated.bound, a.form, a.nonnegative and b.nonnegative)


def _absolute(a: Bounded) -> Bounded:
    return Bounded(np.abs(a.value), a.bound, a.form, True, magnitude=a.magnitude)


def _negative(a: Bounded) -> Bounded:
    return Bounded(-a.value, a.bound, a.form, magnitude=a.magnitude)


def _sign(a: Bounded) -> Bounded:
    sign = np.sign(a.value)
    decided = (a.magnitude > a.bound) | (a.bound == 0)
    either = 1 + magnitude_of(sign) + 0 * a.bound  # not finite where the operand's bound is not: NaN has no sign
    return Bounded(sign, np.where(decided, 0.0, either), a.form, a.nonnegative)


def _comparison(compare: np.ufunc) -> Callable[[Bounded, Bounded], Trilean]:
    def compared(a: Bounded, b: Bounded) -> Trilean:
        reach = a.bound + b.bound
        decided = (magnitude_of(a.value - b.value) > reach) | (reach == 0)
        return Trilean(compare(a.value, b.value), np.logical_not(decided))

    return compared


def _where(condition: Any, a: Any, b: Any) -> Bounded:
    """Choose elements of ``a`` or ``b``; where the condition is undecided, the bound covers both."""
    a, b = alike([x if isinstance(x, Bounded) else float(x) for x in (a, b)])
    outcome = condition if isinstance(condition, Trilean) else Trilean(condition, False)
    truth, undecided = outcome.truth, outcome.undecided
    value = np.where(truth, a.value, b.value)
    bound = np.where(truth, a.bound, b.bound)
    if np.count_nonzero(undecided):
        apart = magnitude_of(a.value - b.value) * MARGIN  # for the rounding of this very difference
        other = apart + np.where(truth, b.bound, a.bound)
        bound = np.where(undecided, np.maximum(bound, other), bound)
    return Bounded(value, bound, a.form, a.nonnegative and b.nonnegative)


def _zeros_like(a: Bounded, shape: tuple[int, ...] | None = None) -> Bounded:
    zeros = np.zeros_like(a.value, shape=shape)
    return Bounded(zeros, np.zeros_like(zeros, BOUND), a.form, True)


_ELEMENTWISE: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _add,
    np.subtract: _subtract,
    np.multiply: _multiply,
    np.divide: _divide,
    np.square: _square,
    np.sqrt: _sqrt,
    np.cbrt: _cbrt,
    np.power: _power,
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.absolute: _absolute,
    np.negative: _negative,
    np.sign: _sign,
    **{
        compare: _comparison(compare)
        for compare in (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal)
    },
}

UFUNCS.update(_ELEMENTWISE)
FUNCTIONS.update({np.where: _where, np.zeros_like: _zeros_like})
