"""Python's arithmetic for objects that stand for arrays: variables of a program and eager tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

APPENDED: dict[str, Callable[..., Any]] = {}
"""The functions that append operators, by name; filled by `optimetry.reference.programs.building`."""


def appends(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: enter a function into `APPENDED` under its own name."""
    APPENDED[function.__name__] = function
    return function


class Arithmetic:
    """``+ - * / **`` with a number or another of its kind, for tensors an array too, and ``-x``; each makes a new one.

    Subclasses say how: ``arithmetic(function, other, swapped)`` is ``function(self, other)``, or of the two swapped.
    """

    __array_priority__ = 1000  # an array on the left leaves the operation to this class
    __array_ufunc__ = None

    def arithmetic(self, function: Callable[..., Any], other: Any, swapped: bool) -> Self:
        """The result of ``function`` for this and another operand."""
        raise TypeError(f"{type(self).__name__} has no arithmetic")

    def __add__(self, other: Any) -> Self:
        return self.arithmetic(operator.add, other, False)

    def __radd__(self, other: Any) -> Self:
        return self.arithmetic(operator.add, other, True)

    def __sub__(self, other: Any) -> Self:
        return self.arithmetic(operator.sub, other, False)

    def __rsub__(self, other: Any) -> Self:
        return self.arithmetic(operator.sub, other, True)

    def __mul__(self, other: Any) -> Self:
        return self.arithmetic(operator.mul, other, False)

    def __rmul__(self, other: Any) -> Self:
        return self.arithmetic(operator.mul, other, True)

    def __truediv__(self, other: Any) -> Self:
        return self.arithmetic(operator.truediv, other, False)

    def __rtruediv__(self, other: Any) -> Self:
        return self.arithmetic(operator.truediv, other, True)

    def __pow__(self, other: Any) -> Self:
        return self.arithmetic(operator.pow, other, False)

    def __rpow__(self, other: Any) -> Self:
        return self.arithmetic(operator.pow, other, True)

    def __neg__(self) -> Self:
        return self.arithmetic(operator.mul, -1.0, False)
