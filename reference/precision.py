"""Arrays that stay in one working precision, whatever scalar they meet.

NumPy promotes ``bfloat16 * 0.5`` to a wider dtype; a rule evaluated in bfloat16 must not. `Working` rounds every
scalar to the dtype of the array it meets, so one rule serves float16, bfloat16, float32, float64 and quad alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

NUMBERS, ARRAYS = (float, int, np.number), (np.ndarray, np.generic)
"""As tuples, by which `isinstance` is faster than by unions: every operation asks."""


class Working(np.ndarray[Any, Any]):
    """An ndarray whose operations take scalars of any precision and return the array's own dtype.

    Scalar hyperparameters remain Python floats, in double precision, until they meet an array.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.matmul:
            return _wrapped(_product(*_lowered(inputs, self.dtype)))
        return _wrapped(getattr(ufunc, method)(*_lowered(inputs, self.dtype), **kwargs))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        dtype = next(x.dtype for x in args if isinstance(x, Working))
        return _wrapped(func(*_lowered(args, dtype), **kwargs))


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


def _lowered(operands: tuple[Any, ...], dtype: np.dtype[Any]) -> list[Any]:
    """Plain arrays for `Working` ones, and scalars rounded to their dtype; masks are left alone."""
    return [x.view(np.ndarray) if isinstance(x, Working) else _rounded(x, dtype) for x in operands]


def _rounded(operand: Any, dtype: np.dtype[Any]) -> Any:
    is_number = isinstance(operand, NUMBERS) and not isinstance(operand, bool)
    return np.asarray(operand).astype(dtype) if is_number else operand


def _wrapped(result: Any) -> Any:
    if isinstance(result, ARRAYS) and result.dtype.kind not in "biu":
        return np.asarray(result).view(Working)
    return result
