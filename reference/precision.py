"""Arrays that stay in one working precision, whatever scalar they meet.

NumPy promotes ``bfloat16 * 0.5`` to a wider dtype; a rule evaluated in bfloat16 must not. `Working` rounds every
scalar to the dtype of the array it meets, so one rule serves float16, bfloat16, float32, float64 and quad alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np

NUMBERS, ARRAYS = (float, int, np.number), (np.ndarray, np.generic)
"""As tuples, by which `isinstance` is faster than by unions: every operation asks."""


def _operator(ufunc: np.ufunc, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """An operator by a ufunc of plain arrays: NumPy would look for overrides first, which takes longer than to add."""
    plain = np.ndarray

    def method(self: Working, other: Any) -> Any:
        if type(self) is not Working:  # a subclass has a say in every ufunc
            return ufunc(other, self) if swapped else ufunc(self, other)
        mine = self.view(plain)
        others = other.view(plain) if type(other) is Working else _lowered(other, mine.dtype)
        result = ufunc(others, mine) if swapped else ufunc(mine, others)
        return result.view(Working) if type(result) is plain else _wrapped(result)

    return method


class Working(np.ndarray[Any, Any]):
    """An ndarray whose operations take scalars of any precision and return the array's own dtype.

    Scalar hyperparameters remain Python floats, in double precision, until they meet an array.
    """

    __add__, __radd__ = _operator(np.add), _operator(np.add, swapped=True)
    __sub__, __rsub__ = _operator(np.subtract), _operator(np.subtract, swapped=True)
    __mul__, __rmul__ = _operator(np.multiply), _operator(np.multiply, swapped=True)
    __truediv__, __rtruediv__ = _operator(np.divide), _operator(np.divide, swapped=True)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if len(inputs) == 1 and method == "__call__" and not kwargs:  # a root, a square: most calls that come here
            return _wrapped(ufunc(self.view(np.ndarray)))
        operands = [_lowered(x, self.dtype) for x in inputs]
        if ufunc is np.matmul:
            return _wrapped(_product(*operands))
        return _wrapped(getattr(ufunc, method)(*operands, **kwargs))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        dtype = next(x.dtype for x in args if isinstance(x, Working))
        return _wrapped(func(*(_lowered(x, dtype) for x in args), **kwargs))


def working(array: np.ndarray[Any, Any]) -> Working:
    """A copy of ``array`` that stays in its dtype."""
    return np.array(array).view(Working)


@singledispatch
def in_bfloat16(x: Any, function: Callable[[Any], Any]) -> Any:
    """``function(x)``, which an implementation may compute in bfloat16, and return in the precision of ``x``.

    That is no part of a formula: plain arrays stay in the precision that they are in.
    """
    return function(x)


@in_bfloat16.register
def _(x: Working, function: Callable[[Any], Any]) -> Any:
    """The same; float16, which has less range than bfloat16, becomes float32 for it."""
    held = working(np.asarray(x).astype(np.float32)) if x.dtype == np.float16 else x
    return function(held).astype(x.dtype)


def _product(a: Any, b: Any) -> Any:
    """The product of matrices in their own dtype.

    NumPy gives float32 for bfloat16, and numpy-quaddtype 1.0 wrong results for transposed views.
    """
    return (np.ascontiguousarray(a) @ np.ascontiguousarray(b)).astype(a.dtype)


def _lowered(operand: Any, dtype: np.dtype[Any]) -> Any:
    """A plain array for a `Working` one, and a scalar rounded to its dtype; masks are left alone."""
    if isinstance(operand, Working):
        return operand.view(np.ndarray)
    if type(operand) is float and operand:  # of zeros, either sign would be found for the other
        return _rounded(operand, dtype)
    of_choice = type(operand) is np.ndarray and not operand.ndim and operand.dtype.kind == "f"  # what np.where returns
    is_number = of_choice or (isinstance(operand, NUMBERS) and not isinstance(operand, bool))
    return np.asarray(operand).astype(dtype) if is_number else operand


@lru_cache(maxsize=1024)
def _rounded(number: float, dtype: np.dtype[Any]) -> Any:
    """A hyperparameter in a dtype; cached, since many operations need it."""
    array = np.asarray(number).astype(dtype)
    array.setflags(write=False)
    return array


def _wrapped(result: Any) -> Any:
    if type(result) is np.ndarray:
        return result if result.dtype.kind in "biu" else result.view(Working)
    if isinstance(result, ARRAYS) and result.dtype.kind not in "biu":
        return np.asarray(result).view(Working)
    return result
