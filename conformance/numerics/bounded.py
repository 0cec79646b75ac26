"""Running error analysis: a wide value with a bound on the rounding errors of a working-precision evaluation.

`Bounded` is an array that NumPy's functions dispatch on (NEP 13, NEP 18), so a reference rule evaluated on it yields,
beside the value, a bound on the distance of *every* working-precision evaluation of that rule. The analysis is
Higham's (Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3): each operation propagates its
operands' bounds and adds u times the largest possible result, or half the smallest subnormal where a product or a
quotient underflows.

The invariant of a `Bounded` x: a working-precision evaluation of the same expression lies within
``x.value ± x.bound``. A bound that is not finite says that nothing is known (the working format may overflow, a divisor
may be zero, or a radicand negative). A bound of zero says that the value is exact: it arises for inputs, for products
with an exact zero, and for sums with one, so that guards on zero norms stay decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from optimetry.conformance.numerics.formats import MARGIN, Format
from optimetry.conformance.numerics.trilean import FUNCTIONS, Trilean

Wide = Any
"""An ndarray of the wide dtype."""

POWER_ROUNDINGS = 2
"""Rounding errors allowed to a power with a fractional exponent: a faithfully rounded ``pow`` errs by 2u."""


def _operator(ufunc: np.ufunc) -> Any:
    """Make a method that computes on two numbers of one format at once, where NumPy would ask both what to do."""

    def method(self: Bounded, other: Any) -> Any:
        plain = type(other) is Bounded and other.form is self.form and self.scalars_in is self.form
        if plain and (self.computed is None or other.computed is None):
            return UFUNCS[ufunc](self, other)
        return ufunc(self, other)

    return method


class Bounded(NDArrayOperatorsMixin):
    """An array of wide values with a running bound.

    Args:
        value: the wide values.
        bound: how far a working-precision evaluation may be from them, of the same shape and dtype.
        form: the format the working-precision evaluation holds them in.
        nonnegative: whether that evaluation cannot be negative, whatever its rounding errors.
        scalars_in: the format in which it may compute what follows from such scalars alone; by default ``form``.

    Attributes:
        computed: what was computed of a hyperparameter and others before, by the operation and its operands; None for
            what also follows from arrays. The same formula is evaluated on many arrays, and many formulas on the same.
    """

    __slots__ = ("bound", "computed", "form", "nonnegative", "scalars_in", "value")

    __add__ = _operator(np.add)
    __sub__ = _operator(np.subtract)
    __mul__ = _operator(np.multiply)
    __truediv__ = _operator(np.divide)

    def __init__(
        self, value: Wide, bound: Wide, form: Format, nonnegative: bool = False, scalars_in: Format | None = None
    ) -> None:
        self.value = np.asarray(value)
        self.bound = np.asarray(bound)
        self.form = form
        self.scalars_in = scalars_in or form
        self.nonnegative = nonnegative or (self.value.ndim == 0 and bool(self.value >= self.bound))
        self.computed: dict[Any, Any] | None = None

    @classmethod
    def exact(cls, array: Any, form: Format) -> Bounded:
        """Make an exact input. Nothing is known of what follows from an infinity or a NaN."""
        value = np.asarray(array).astype(form.wide)
        return cls(value, _or_flushed(value, np.where(np.isfinite(value), np.zeros_like(value), np.inf), form), form)

    @classmethod
    def scalar(cls, number: float | Wide, form: Format) -> Bounded:
        """Make a hyperparameter, which an implementation may hold as given or rounded to ``form``."""
        value = np.asarray(number).astype(form.wide)
        return cls(value, _or_flushed(value, np.abs(form.nearest(value) - value) * MARGIN, form), form).remembering()

    def remembering(self) -> Bounded:
        """Return the same number, a hyperparameter, which remembers what is computed of it."""
        self.computed = {}
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.value.ndim

    def held_in(self, form: Format) -> Bounded:
        """Round to a coarser format; return the number itself if it is held in that format already."""
        if form is self.form or form.roundoff <= self.form.roundoff:
            return self
        inexact = np.logical_or(self.bound, form.nearest(self.value) != self.value)
        return _rounded(self.value, self.bound, form, self.nonnegative, underflows=True, inexact=inexact)

    def rounded_through(self, form: Format) -> Bounded:
        """Round to a coarser format and back; what follows may be computed there."""
        return Bounded(self.value, self.held_in(form).bound, self.form, self.nonnegative, form)

    def __getitem__(self, index: Any) -> Bounded:
        return Bounded(self.value[index], self.bound[index], self.form, self.nonnegative)

    def __bool__(self) -> bool:
        raise TypeError("a Bounded number has no truth value: choose with np.where, not with if")

    def __repr__(self) -> str:
        value, bound = (x.astype(np.float64) for x in (self.value, self.bound))  # NumPy cannot print every quad array
        return f"Bounded({value} ± {bound}, {self.form.name})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc not in UFUNCS:
            return NotImplemented
        operands = _alike(inputs)
        if self.computed is None or any(x.computed is None for x in operands):
            return self._result(ufunc, inputs, operands)
        known, key = operands[0].computed, (ufunc, *map(id, operands))
        if key not in known:
            result = self._result(ufunc, inputs, operands)
            if isinstance(result, Bounded):
                result.computed = {}
            known[key] = result, operands  # which must live as long as their ids are used
        return known[key][0]

    def _result(self, ufunc: np.ufunc, inputs: Any, operands: Any) -> Any:
        result = UFUNCS[ufunc](*operands)
        if self.scalars_in is self.form or not isinstance(result, Bounded):  # mostly the first operand decides
            return result
        alone = (x.scalars_in is not x.form if isinstance(x, Bounded) else isinstance(x, (float, int)) for x in inputs)
        if not all(alone):
            return result
        return result.rounded_through(next(x.scalars_in for x in inputs if isinstance(x, Bounded)))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return FUNCTIONS[func](*args, **kwargs) if func in FUNCTIONS else NotImplemented


@lru_cache(maxsize=1024)
def _constant(number: float, form: Format) -> Bounded:
    return Bounded.scalar(number, form)


def _or_flushed(value: Wide, bound: Wide, form: Format) -> Wide:
    """Widen the bound of a number that an evaluation flushes to zero, if the format flushes subnormals."""
    if not form.flushes:
        return bound
    size = np.abs(value)
    return np.where(size < form.smallest_normal, np.maximum(bound, size), bound)


def _alike(operands: Any) -> Any:
    """Return one operand or two as `Bounded` numbers of one format, the coarsest among them."""
    if len(operands) == 1:
        return operands
    a, b = operands
    if not isinstance(b, Bounded):
        return a, _lifted(b, a.form)
    if not isinstance(a, Bounded):
        return _lifted(a, b.form), b
    if a.form is b.form:
        return operands
    form = b.form if b.form.roundoff > a.form.roundoff else a.form
    return a.held_in(form), b.held_in(form)


def _lifted(operand: Any, form: Format) -> Bounded:
    return _constant(operand, form) if isinstance(operand, (float, int)) else Bounded.exact(operand, form)


def _rounded(
    value: Wide, propagated: Wide, form: Format, nonnegative: bool, *, underflows: bool = False, inexact: Any = None
) -> Bounded:
    """Bound the result of one operation: the propagated bounds of its operands, and one rounding.

    Args:
        value: the wide result.
        propagated: how far the operands' bounds may carry it.
        form: the format it is rounded to.
        nonnegative: see `Bounded`.
        underflows: whether the result may underflow; sums and roots do not, they lose nothing there unless flushed.
        inexact: where it is rounded at all; everywhere, unless said.
    """
    raised = (np.abs(value) + propagated) * form.headroom  # infinite where the result may overflow
    error = raised * form.roundoff_after_headroom
    if underflows or form.flushes:  # nothing but an exact zero is less than `half_tiny` when raised
        error = np.maximum(error, np.minimum(raised, form.half_tiny))
    return Bounded(value, propagated + (error if inexact is None else np.where(inexact, error, 0.0)), form, nonnegative)


def _rounded_often(value: Wide, propagated: Wide, error: Wide, form: Format, nonnegative: bool) -> Bounded:
    """Bound the result of an operation that is rounded several times, which may carry it beyond the largest number."""
    bound = propagated + error
    return Bounded(value, np.where(np.abs(value) + bound > form.largest, np.inf, bound), form, nonnegative)


def not_zero(x: Bounded) -> Any:
    """Return where ``x`` is anything but an exact zero."""
    return np.logical_or(x.value, x.bound)


def _add(a: Bounded, b: Bounded) -> Bounded:
    inexact = np.logical_and(not_zero(a), not_zero(b))
    return _rounded(a.value + b.value, a.bound + b.bound, a.form, a.nonnegative and b.nonnegative, inexact=inexact)


def _subtract(a: Bounded, b: Bounded) -> Bounded:
    inexact = np.logical_and(not_zero(a), not_zero(b))
    return _rounded(a.value - b.value, a.bound + b.bound, a.form, False, inexact=inexact)


def _multiply(a: Bounded, b: Bounded) -> Bounded:
    propagated = np.abs(a.value) * b.bound + (np.abs(b.value) + b.bound) * a.bound
    nonnegative = a is b or (a.nonnegative and b.nonnegative)
    return _rounded(a.value * b.value, propagated, a.form, nonnegative, underflows=True)


def _square(a: Bounded) -> Bounded:
    size = np.abs(a.value)
    return _rounded(a.value * a.value, (size + size + a.bound) * a.bound, a.form, True, underflows=True)


def _divide(a: Bounded, b: Bounded) -> Bounded:
    value = a.value / b.value
    nearest_zero = np.maximum(np.abs(b.value) - b.bound, 0.0)  # and what is divided by 0 is not finite
    propagated = (a.bound + np.abs(value) * b.bound) / nearest_zero
    return _rounded(value, propagated, a.form, a.nonnegative and b.nonnegative, underflows=True)


def _sqrt(a: Bounded) -> Bounded:
    root = np.sqrt(a.value)
    low = a.value - a.bound
    if not a.nonnegative:
        return _rounded(root, root - np.sqrt(low), a.form, True)  # a root falls more steeply than it rises
    low_root = np.sqrt(np.maximum(low, 0.0))
    return _rounded(root, np.maximum(root - low_root, np.sqrt(a.value + a.bound) - root), a.form, True)


def _power(a: Bounded, b: Bounded) -> Bounded:
    """A power: monotone in the base and in the exponent, so the corners bound it.

    A base that may have either sign needs a whole exponent (NumPy gives NaN for another). Corners bound an even power,
    too: if zero is within reach of the base, the far end of its interval is at twice its distance. They do not bound a
    pole.
    """
    fixed = b.ndim == 0 and bool(b.bound == 0)
    low, high = a.value - a.bound, a.value + a.bound
    exponents = (b.value,) if fixed else (b.value - b.bound, b.value + b.bound)
    value = np.power(a.value, b.value)
    bases = (np.maximum(low, 0.0) if a.nonnegative else low, high)
    corners = [np.abs(np.power(base, exponent) - value) for base in bases for exponent in exponents]
    propagated = reduce(np.maximum, corners)
    if not a.nonnegative:
        propagated = np.where((low < 0) & (high >= 0) & (exponents[0] < 0), np.inf, propagated)

    whole = float(b.value) if fixed and bool(b.value == np.floor(b.value)) else math.nan
    roundings = max(whole - 1, POWER_ROUNDINGS) if whole >= 1 else POWER_ROUNDINGS  # it may be multiplied out
    relative = (np.abs(value) + propagated) * (math.expm1(roundings * math.log1p(a.scalars_in.roundoff)) * MARGIN)
    error = np.maximum(relative, np.where(not_zero(a), roundings * a.scalars_in.half_tiny, 0.0))
    return _rounded_often(value, propagated, error, a.form, a.nonnegative or whole % 2 == 0)


def _maximum(a: Bounded, b: Bounded) -> Bounded:
    gap, reach = a.value - b.value, a.bound + b.bound
    either = np.where(gap < -reach, b.bound, np.maximum(a.bound, b.bound))
    bound = np.where(gap > reach, a.bound, either)
    return Bounded(np.maximum(a.value, b.value), bound, a.form, a.nonnegative or b.nonnegative)


def _minimum(a: Bounded, b: Bounded) -> Bounded:
    negated = _maximum(_negative(a), _negative(b))
    return Bounded(-negated.value, negated.bound, a.form, a.nonnegative and b.nonnegative)


def _absolute(a: Bounded) -> Bounded:
    return Bounded(np.abs(a.value), a.bound, a.form, True)


def _negative(a: Bounded) -> Bounded:
    return Bounded(-a.value, a.bound, a.form)


def _sign(a: Bounded) -> Bounded:
    sign = np.sign(a.value)
    decided = (np.abs(a.value) > a.bound) | (a.bound == 0)
    either = 1 + np.abs(sign) + 0 * a.bound  # not finite where the operand's bound is not: NaN has no sign
    return Bounded(sign, np.where(decided, 0.0, either), a.form, a.nonnegative)


def _comparison(compare: np.ufunc) -> Callable[[Bounded, Bounded], Trilean]:
    def compared(a: Bounded, b: Bounded) -> Trilean:
        reach = a.bound + b.bound
        decided = (np.abs(a.value - b.value) > reach) | (reach == 0)
        return Trilean(compare(a.value, b.value), np.logical_not(decided))

    return compared


def _where(condition: Any, a: Any, b: Any) -> Bounded:
    """Choose elements of ``a`` or ``b``; where the condition is undecided, the bound covers both."""
    a, b = _alike([x if isinstance(x, Bounded) else float(x) for x in (a, b)])
    nonnegative = a.nonnegative and b.nonnegative
    if not isinstance(condition, Trilean):
        return Bounded(
            np.where(condition, a.value, b.value), np.where(condition, a.bound, b.bound), a.form, nonnegative
        )
    truth = condition.truth
    apart = np.abs(a.value - b.value) * MARGIN  # for the rounding of this very difference
    value = np.where(truth, a.value, b.value)
    chosen = np.where(truth, a.bound, b.bound)
    other = apart + np.where(truth, b.bound, a.bound)
    return Bounded(value, np.where(condition.undecided, np.maximum(chosen, other), chosen), a.form, nonnegative)


def _zeros_like(a: Bounded, shape: tuple[int, ...] | None = None) -> Bounded:
    zeros = np.zeros_like(a.value, shape=shape)
    return Bounded(zeros, zeros, a.form, True)


UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _add,
    np.subtract: _subtract,
    np.multiply: _multiply,
    np.divide: _divide,
    np.square: _square,
    np.sqrt: _sqrt,
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
"""What each NumPy ufunc becomes on `Bounded` operands of one format."""

FUNCTIONS.update({np.where: _where, np.zeros_like: _zeros_like})
