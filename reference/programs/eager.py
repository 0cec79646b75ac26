"""Eager tensors: the small part of dynamic graphs that the examples of pages 001 and 003 use.

A `Tensor` remembers how it was computed as one function of the values of its parameters; `Tensor.backward` hands that
function to autograd and adds the gradients to ``.grad`` of the parameters.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from autograd import make_vjp

from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import operators
from optimetry.reference.sparse import SparseRows

Values = Mapping[str, Any]


class EagerParameter:
    """A parameter with its value and gradient.

    Args:
        name: unique among the parameters of an optimizer.
        value: its value; later values have the same shape and dtype.
        trainable: whether it gets a gradient and is updated.
        regularizer: replaces the optimizer's regularizer.
        learning_rate: a factor on the optimizer's learning rate.

    Attributes:
        grad: None, an array or `SparseRows`, of the shape and dtype of the value.
    """

    def __init__(
        self, name: str, value: Any, *, trainable: bool = True, regularizer: Any = None, learning_rate: float = 1.0
    ) -> None:
        self.name = name
        self.value = np.array(value)
        self.grad: Any = None
        self.trainable = trainable
        self.regularizer = regularizer
        self.learning_rate = learning_rate

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the value."""
        return self.value.dtype

    def __repr__(self) -> str:
        return f"EagerParameter({self.name!r}, {self.value!r})"


class Tensor:
    """A value computed from parameters.

    Args:
        function: the value as a function of the values of the parameters, by name.
        parameters: those it is computed from.

    Attributes:
        value: the value.
    """

    def __init__(self, function: Callable[[Values], Any], parameters: Sequence[EagerParameter] = ()) -> None:
        self._function = function
        self._parameters = {parameter.name: parameter for parameter in parameters}
        self._seen = {parameter.name: parameter.value for parameter in parameters}
        self.value = np.asarray(function(self._seen))

    @classmethod
    def of(cls, given: Tensor | EagerParameter | Any) -> Tensor:
        """A tensor as it is, a parameter as a tensor, or an array as a constant."""
        if isinstance(given, Tensor):
            return given
        if isinstance(given, EagerParameter):
            return cls(lambda values: values[given.name], [given])
        constant = np.array(given)
        return cls(lambda values: constant)

    @classmethod
    def computed(cls, function: Callable[..., Any], *arguments: Tensor | EagerParameter | Any) -> Tensor:
        """The tensor ``function(*arguments)``, for a function of `optimetry.reference.programs.operators`."""
        tensors = [cls.of(argument) for argument in arguments]
        parameters = {name: p for tensor in tensors for name, p in tensor._parameters.items()}
        return cls(
            lambda values: function(*(tensor._function(values) for tensor in tensors)), list(parameters.values())
        )

    def backward(self) -> None:
        """Add the gradient of the sum of all elements to ``.grad`` of each trainable parameter."""
        names = [name for name, parameter in self._parameters.items() if parameter.trainable]
        fixed = dict(self._seen)

        def of_trainable(*values: Any) -> Any:
            return self._function(fixed | dict(zip(names, values, strict=True)))

        vjp, value = make_vjp(of_trainable, tuple(range(len(names))))(*(fixed[name] for name in names))
        for name, gradient in zip(names, vjp(np.ones_like(np.asarray(value))), strict=True):
            _accumulate(self._parameters[name], np.asarray(gradient, dtype=fixed[name].dtype))

    def __repr__(self) -> str:
        return f"Tensor({self.value!r})"


def _accumulate(parameter: EagerParameter, gradient: Any) -> None:
    """Add to what is there: without `clear_grad`, gradients accumulate."""
    before = parameter.grad
    if isinstance(before, SparseRows):
        before = before.dense()
    parameter.grad = gradient if before is None else before + gradient


def mean(x: Tensor) -> Tensor:
    """The mean of all elements, 0-d."""
    return Tensor.computed(operators.mean, x)


reduce_mean = mean


class Linear:
    """``x @ weight + bias``, the weight drawn from Xavier's uniform distribution and the bias 0.

    Args:
        in_features: columns of the input.
        out_features: columns of the output.
        name: the parameters are ``name.w_0`` and ``name.b_0``; it decides the random numbers.
        dtype: of the parameters.
    """

    def __init__(self, in_features: int, out_features: int, name: str = "linear_0", dtype: Any = "float32") -> None:
        self.weight = EagerParameter(f"{name}.w_0", _xavier(f"{name}.w_0", in_features, out_features).astype(dtype))
        self.bias = EagerParameter(f"{name}.b_0", np.zeros(out_features, dtype))

    def parameters(self) -> list[EagerParameter]:
        """The weight and the bias."""
        return [self.weight, self.bias]

    def state_dict(self) -> dict[str, Any]:
        """Copies of the values by name of parameter."""
        return {parameter.name: np.array(parameter.value) for parameter in self.parameters()}

    def __call__(self, x: Any) -> Tensor:
        """The layer's output for x of shape (n, in_features)."""
        return Tensor.computed(operators.add, Tensor.computed(operators.mul, x, self.weight), self.bias)


class Embedding:
    """Rows of a table, ``name.w_0`` of shape (height, width).

    Args:
        height: the number of rows.
        width: the number of columns.
        name: decides the name of the table and its random numbers.
        dtype: of the table.
    """

    def __init__(self, height: int, width: int, name: str = "embedding_0", dtype: Any = "float32") -> None:
        self.weight = EagerParameter(f"{name}.w_0", _xavier(f"{name}.w_0", height, width).astype(dtype))

    def parameters(self) -> list[EagerParameter]:
        """The table."""
        return [self.weight]

    def state_dict(self) -> dict[str, Any]:
        """A copy of the table by its name."""
        return {self.weight.name: np.array(self.weight.value)}

    def __call__(self, ids: Any) -> Tensor:
        """The rows of the table for integers of any shape, in which each becomes a row."""
        numbers = np.asarray(ids)
        if numbers.dtype.kind != "i":
            raise ArgumentError(f"Embedding: row numbers of dtype {numbers.dtype}, must be integers")
        return Tensor.computed(operators.lookup, self.weight, numbers[..., np.newaxis])


def _xavier(name: str, rows: int, columns: int) -> Any:
    limit = math.sqrt(6 / max(1, rows + columns))
    return np.random.default_rng(zlib.crc32(name.encode())).uniform(-limit, limit, (rows, columns))
