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

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from optimetry.conformance.numerics.formats import (
    BOUND,
    BOUND_ROUNDINGS,
    BOUND_ROUNDOFF,
    MARGIN,
    Bound,
    Format,
    NotAlikeError,
    Wide,
)
from optimetry.conformance.numerics.magnitudes import magnitude_of
from optimetry.conformance.numerics.trilean import FUNCTIONS
from optimetry.conformance.numerics.widening import widened


def _operator(ufunc: np.ufunc) -> Any:
    """Make a method that computes on two numbers of one format at once, where NumPy would ask both what to do."""

    def method(self: Bounded, other: Any) -> Any:
        plain = type(self) is type(other) is Bounded and self.form is self.scalars_in is other.form is other.scalars_in
        if plain and (self.computed is None or other.computed is None):
            return UFUNCS[ufunc](self, other)
        return ufunc(self, other)

    return method


ZERO = np.asarray(0.0)
"""An array, as NumPy takes longer for Python numbers; and longer to combine many numbers as truths than to compare."""

UFUNCS: dict[np.ufunc, Callable[..., Any]] = {}
"""What each NumPy ufunc becomes on `Bounded` operands of one format; `operations` and `reductions` fill it."""


CORRECTLY_ROUNDED = (np.add, np.subtract, np.multiply)
"""Operations whose result every evaluation rounds once."""


class Bounded(NDArrayOperatorsMixin):
    """An array of wide values with a running bound.

    Args:
        value: the wide values.
        bound: how far a working-precision evaluation may be from them, float64 of the same shape.
        form: the format the working-precision evaluation holds them in.
        nonnegative: whether that evaluation cannot be negative, whatever its rounding errors.
        scalars_in: the format in which it may compute what follows from such scalars alone; by default ``form``.
        magnitude: the absolute values, where they are known already; see `magnitude_of`.

    Attributes:
        computed: what was computed of a hyperparameter and others before, by the operation and its operands; None for
            what also follows from arrays. The same formula is evaluated on many arrays, and many formulas on the same.
    """

    __slots__ = ("_magnitude", "bound", "computed", "form", "nonnegative", "scalars_in", "value")

    __add__ = _operator(np.add)
    __sub__ = _operator(np.subtract)
    __mul__ = _operator(np.multiply)
    __truediv__ = _operator(np.divide)

    def __init__(
        self,
        value: Wide,
        bound: Bound,
        form: Format,
        nonnegative: bool = False,
        scalars_in: Format | None = None,
        magnitude: Bound | None = None,
    ) -> None:
        self.value = np.asarray(value)
        self.bound = np.asarray(bound)
        self.form = form
        self.scalars_in = scalars_in or form
        self.nonnegative = nonnegative or (self.value.ndim <= form.scalar_axes and every(self.value >= self.bound))
        self.computed: dict[Any, Any] | None = None
        self._magnitude = magnitude

    @classmethod
    def exact(cls, array: Any, form: Format) -> Bounded:
        """Make an input, exact unless the format rounds it. Nothing is known of what follows from infinity or NaN."""
        value = widened(array, form.wide)
        magnitude = magnitude_of(value)
        bound = np.where(np.isfinite(magnitude), ZERO, np.inf)
        if form.rounds_inputs:
            bound = bound + magnitude_of(form.nearest(value) - value) * MARGIN
        return cls(value, or_flushed(magnitude, bound, form), form, magnitude=magnitude)

    @classmethod
    def scalar(cls, number: float | Wide, form: Format) -> Bounded:
        """Make a hyperparameter, which an implementation may hold as given or rounded to ``form``."""
        value = np.asarray(number).astype(form.wide)
        bound = magnitude_of(form.nearest(value) - value) * MARGIN
        return cls(value, or_flushed(magnitude_of(value), bound, form), form).remembering()

    def remembering(self) -> Bounded:
        """Return the same number, a hyperparameter, which remembers what is computed of it."""
        self.computed = {}
        return self

    @property
    def magnitude(self) -> Bound:
        """The absolute values; see `magnitude_of`."""
        if self._magnitude is None:
            self._magnitude = magnitude_of(self.value)
        return self._magnitude

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
        exact = (self.bound == ZERO) & (form.nearest(self.value) == self.value)
        return rounded(self.value, self.bound, form, self.nonnegative, underflows=(self,), exact=exact)

    def rounded_through(self, form: Format, exact: Any = False) -> Bounded:
        """Round to a coarser format and back; what follows may be computed there.

        Args:
            form: the coarser format.
            exact: where it is one correctly rounded operation on exact numbers, which has no error if its result is
                representable.
        """
        bound = self.held_in(form).bound
        if np.any(exact):
            bound = np.where(exact & (form.nearest(self.value) == self.value), np.zeros_like(bound), bound)
        return Bounded(self.value, bound, self.form, self.nonnegative, form)

    def combined(self) -> Bounded:
        """Return the number as it meets an array, once it has been combined with others in a format that combines.

        Where ``b * (x / a)`` becomes ``(b / a) * x``, one operation more is rounded to the scalars' format, and another
        where a root is taken of a scalar in place of an array. So each number may be rounded twice more.
        """
        narrow = self.scalars_in
        if not narrow.combines:
            return self
        once = rounded(self.value, self.bound, narrow, self.nonnegative, underflows=(self,))
        twice = rounded(self.value, once.bound, narrow, self.nonnegative, underflows=(self,))
        return Bounded(self.value, twice.bound, self.form, self.nonnegative)

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
        operands = alike(inputs)
        if self.computed is None or any(x.computed is None for x in operands):
            return self._result(ufunc, inputs, operands)
        # Kept here, not with a plain number beside: that lives as long as the process, and what it keeps does, too.
        known, key = self.computed, (ufunc, *map(id, operands))
        if key not in known:
            result = self._result(ufunc, inputs, operands)
            if isinstance(result, Bounded):
                result.computed = {}
            known[key] = result, operands  # which must live as long as their ids are used
        return known[key][0]

    def _result(self, ufunc: np.ufunc, inputs: Any, operands: Any) -> Any:
        narrow = next((x.scalars_in for x in inputs if isinstance(x, Bounded) and x.scalars_in is not x.form), None)
        if narrow is None:
            return UFUNCS[ufunc](*operands)
        alone = (x.scalars_in is not x.form if isinstance(x, Bounded) else isinstance(x, (float, int)) for x in inputs)
        if not all(alone):
            return UFUNCS[ufunc](*(x.combined() for x in operands) if narrow.combines else operands)
        result = UFUNCS[ufunc](*operands)
        if not isinstance(result, Bounded):
            return result
        exact = ufunc in CORRECTLY_ROUNDED and reduce(np.logical_and, (x.bound == 0 for x in operands))
        return result.rounded_through(narrow, exact)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return FUNCTIONS[func](*args, **kwargs) if func in FUNCTIONS else NotImplemented


def every(holds: Any) -> bool:
    """Return whether something holds of one number, or of those of all cases that stand side by side.

    Raises:
        NotAlikeError: it holds of some of these.
    """
    if not holds.ndim:
        return bool(holds)
    if holds.any() != holds.all():
        raise NotAlikeError("what holds of some cases does not hold of others")
    return bool(holds.all())


@lru_cache(maxsize=1024)
def _constant(number: float, form: Format) -> Bounded:
    return Bounded.scalar(number, form)


def or_flushed(magnitude: Bound, bound: Bound, form: Format) -> Bound:
    """Widen the bound of a number that an evaluation flushes to zero, if the format flushes subnormals."""
    if not form.flushes:
        return bound
    return np.where(magnitude < form.smallest_normal, np.maximum(bound, magnitude), bound)


def alike(operands: Any) -> Any:
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


def rounded(
    value: Wide,
    propagated: Bound,
    form: Format,
    nonnegative: bool,
    *,
    underflows: tuple[Bounded, ...] = (),
    exact: Any = None,
    magnitude: Bound | None = None,
) -> Bounded:
    """Bound the result of one operation: the propagated bounds of its operands, and one rounding.

    Args:
        value: the wide result.
        propagated: how far the operands' bounds may carry it.
        form: the format it is rounded to.
        nonnegative: see `Bounded`.
        underflows: the operands of which any exact zero makes the result one, where other results may underflow; none
            for sums and roots, which lose nothing there unless flushed.
        exact: where the result is not rounded; None for nowhere.
        magnitude: see `Bounded`.
    """
    magnitude = magnitude_of(value) if magnitude is None else magnitude
    carried = propagated if form.wide == BOUND else propagated * BOUND_ROUNDINGS
    error = np.add(magnitude, carried, out=...)  # an array even of one number, to be written over
    raised = np.multiply(error, form.headroom, out=...)  # infinite where the result may overflow
    np.multiply(raised, form.roundoff_after_headroom, out=error)
    if underflows or form.flushes:
        error = np.maximum(error, _underflow(raised, underflows, form), out=raised)
    if exact is not None:
        error[exact] = 0.0
    return Bounded(value, propagated + error, form, nonnegative, magnitude=magnitude)


def _underflow(raised: Bound, operands: tuple[Bounded, ...], form: Format) -> Bound:
    """Return what an underflow may cost: half the smallest subnormal, and nothing where the result is an exact zero."""
    if form.wide == BOUND:  # nothing but an exact zero is less than that once it is raised
        return np.minimum(raised, form.half_tiny)
    if np.count_nonzero(raised) == raised.size:
        return form.half_tiny
    zero = raised == ZERO
    if operands:  # or it underflows even the bounds
        zero &= any_zero(*operands)
    return np.where(zero, ZERO, form.half_tiny)


def enlarged(propagated: Bound, operations: Any) -> Bound:
    """Enlarge bounds by what so many operations on them, one after the other, may have rounded away."""
    return propagated * (1 + BOUND_ROUNDINGS * BOUND_ROUNDOFF * operations)


def not_zero(x: Bounded) -> Any:
    """Return where ``x`` is anything but an exact zero."""
    return ~any_zero(x)


def any_zero(*operands: Bounded) -> Any:
    """Return where one of some numbers is an exact zero."""
    return reduce(np.minimum, [x.magnitude + x.bound for x in operands]) == ZERO
