"""Bounds parameters that are held in the arrays' dtype, and moved by steps that are computed in a narrower one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.numerics.bounded import Bounded, rounded
from optimetry.conformance.numerics.formats import Bound, Format, Wide
from optimetry.conformance.numerics.trilean import FUNCTIONS


class Moved(Bounded):
    """A parameter beside numbers of a narrower format: a sum with one of them is rounded in its own.

    To any other operation it is a number of the narrower format, to which it is rounded first.

    Attributes:
        own: the format of its dtype.
    """

    __slots__ = ("own",)

    def __init__(self, value: Wide, bound: Bound, narrow: Format, own: Format) -> None:
        super().__init__(value, bound, narrow)
        self.own = own

    @classmethod
    def of(cls, value: Wide, bound: Bound, narrow: Format, own: Format) -> Moved:
        """Return the result of a sum."""
        return cls(value, rounded(value, bound, own, nonnegative=False).bound, narrow, own)

    @classmethod
    def begun(cls, param: Bounded, own: Format) -> Moved:
        """Return a parameter that a narrower format has rounded, as it was before."""
        return cls(param.value, np.where(np.isfinite(param.value), 0.0, np.inf), param.form, own)

    @property
    def narrowed(self) -> Bounded:
        """The same, rounded to the narrower format."""
        return Bounded(self.value, self.bound + self.form.roundoff * (self.magnitude + self.bound), self.form)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        moves = ufunc in (np.add, np.subtract) and sum(isinstance(x, Moved) for x in inputs) == 1
        if moves and all(isinstance(x, Bounded) for x in inputs):
            a, b = inputs
            return Moved.of(ufunc(a.value, b.value), a.bound + b.bound, self.form, self.own)
        return getattr(ufunc, method)(*map(_narrowed, inputs), **kwargs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and all(isinstance(x, Moved) for x in args[1:]):
            chosen = FUNCTIONS[func](args[0], *(Bounded(x.value, x.bound, x.form) for x in args[1:]))
            return Moved(chosen.value, chosen.bound, self.form, self.own)
        return func(*map(_narrowed, args), **kwargs)


def _narrowed(x: Any) -> Any:
    return x.narrowed if isinstance(x, Moved) else x
