"""The NumPy functions that programs are made of, written in `autograd.numpy` so that autograd differentiates them.

Shapes: ``n`` is the length of a batch. All functions return arrays of the dtype of their float inputs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np

from optimetry.reference.errors import ArgumentError
from optimetry.reference.rule import Array


def mul(x: Array, w: Array) -> Array:
    """The matrix product of x, flattened to two dimensions, shape (n, k), and w, shape (k, m)."""
    return anp.dot(anp.reshape(x, (-1, w.shape[0])), w)


def add(x: Array, y: Array) -> Array:
    """The sum of two arrays, y broadcast to x: the addition of a bias."""
    return x + y


def same(x: Array) -> Array:
    """The array itself."""
    return x


def reshaped(shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """The function that gives an array another shape."""
    return lambda x: anp.reshape(x, shape)


def mean(x: Array) -> Array:
    """The mean of all elements, 0-d."""
    return anp.mean(x)


def reduce_sum(x: Array) -> Array:
    """The sum of all elements, 0-d."""
    return anp.sum(x)


def shaped(function: Callable[[Array], Array], shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """The function whose result, of one element, has a shape: ``()`` or ``(1,)``."""
    return (lambda x: anp.reshape(function(x), shape)) if shape else function


def square_error_cost(x: Array, label: Array) -> Array:
    """The squared difference of each element."""
    return anp.square(x - label)


def softmax(x: Array) -> Array:
    """The softmax over the last axis."""
    powers = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
    return powers / anp.sum(powers, axis=-1, keepdims=True)


def relu(x: Array) -> Array:
    """The larger of each element and 0."""
    return anp.maximum(x, 0)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), written so that nothing overflows."""
    return (anp.tanh(x / 2) + 1) / 2


def check_whole(function: Callable[..., Any], operand: Any, dtype: np.dtype[Any]) -> None:
    """Check that the result of arithmetic on an array of integers is of integers, as that with a fraction is not.

    Args:
        function: of `operator`.
        operand: the number beside the array; what is no number is not looked at.
        dtype: of the array.

    Raises:
        ArgumentError: it is not.
    """
    if dtype.kind not in "iu":
        return
    if function is operator.truediv:
        raise ArgumentError(f"truediv: a tensor of dtype {dtype}, must be of a float dtype")
    if isinstance(operand, float | np.floating) and not operand.is_integer():
        name = function.__name__
        raise ArgumentError(f"{name}: {operand!r} beside a tensor of dtype {dtype}, must be a whole number")


def check_ids(name: str, ids: Array, height: int) -> None:
    """Check that integers number the rows or columns of an array, from 0 on.

    Raises:
        ArgumentError: one is outside.
    """
    outside = ids[(ids < 0) | (ids >= height)]
    if outside.size:
        raise ArgumentError(f"{name}: {outside.flat[0]}, must be in [0, {height})")


def cross_entropy(x: Array, label: Array) -> Array:
    """Minus the logarithm of the probability of the label: x of shape (n, k), label int64 (n, 1), result (n, 1)."""
    check_ids("cross_entropy: label", label, x.shape[-1])
    rows = np.arange(len(label))
    return -anp.reshape(anp.log(x[rows, label[:, 0]]), (-1, 1))


def lookup(table: Array, ids: Array) -> Array:
    """The rows of a table: ids int64 of shape (..., 1), result (..., width)."""
    check_ids("embedding: id", ids, len(table))
    return table[ids[..., 0]]


def concat(axis: int) -> Callable[..., Array]:
    """The function that joins arrays along an axis."""
    return lambda *arrays: anp.concatenate(arrays, axis=axis)


def dropout(probability: float, seed: int) -> Callable[[Array, Array], Array]:
    """The function of (x, run number) that zeroes each element with a probability and leaves the others as they are.

    The mask is a function of seed, run number and shape: the same arguments drop the same elements.
    """

    def drop(x: Array, run_number: Array) -> Array:
        draws = np.random.default_rng([seed, int(run_number)]).random(x.shape)
        return x * (draws >= probability).astype(x.dtype)

    return drop


def dropout_at_test(probability: float) -> Callable[[Array, Array], Array]:
    """What stands for `dropout` in a program for testing: the expectation of the mask as a factor."""
    return lambda x, run_number: x * (1 - probability)


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": relu,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "tanh": anp.tanh,
}
"""The functions that ``act`` of a layer may name."""
