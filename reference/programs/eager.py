"""Eager tensors: the part of dynamic graphs that the examples of pages 000, 001, 003 and 004 use.

A `Tensor` remembers the function that made it and from what; `Tensor.backward` goes back along these, lets autograd
differentiate each function, and adds the gradients to ``.grad`` of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autograd import make_vjp

from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import operators
from optimetry.reference.programs.arithmetic import Arithmetic
from optimetry.reference.programs.variables import is_float
from optimetry.reference.sparse import SparseRows


class Value(Arithmetic):
    """What a tensor and a parameter share: a value, and arithmetic on it.

    Attributes:
        value: an array.
    """

    value: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the value."""
        return self.value.dtype  # type: ignore[no-any-return]

    def numpy(self) -> Any:
        """A copy of the value."""
        return np.array(self.value)

    def item(self) -> Any:
        """The one element, as a Python number."""
        return self.value.item()

    def reshape(self, shape: Sequence[int]) -> Tensor:
        """A tensor of another shape with the same elements."""
        return Tensor.computed(operators.reshaped(tuple(shape)), self)

    def arithmetic(self, function: Callable[..., Any], other: Any, swapped: bool) -> Any:
        """See `Arithmetic`."""
        operators.check_whole(function, other, self.dtype)
        if isinstance(other, float | int):
            other = np.asarray(other, self.dtype)
        return Tensor.computed(function, *((other, self) if swapped else (self, other)))

    def __float__(self) -> float:
        return float(self.value.item())

    def __len__(self) -> int:
        return len(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.value, dtype=dtype)


class EagerParameter(Value):
    """A parameter with its value and gradient.

    Args:
        name: unique among the parameters of an optimizer.
        value: its value; later values have the same shape and dtype.
        trainable: whether it gets a gradient and is updated.
        regularizer: replaces the optimizer's regularizer.
        learning_rate: a factor on the optimizer's learning rate.

    Attributes:
        grad: None, an array or `SparseRows`, of the shape and dtype of the value.

    Raises:
        ArgumentError: it is trainable, and its dtype has no fractions.
    """

    def __init__(
        self, name: str, value: Any, *, trainable: bool = True, regularizer: Any = None, learning_rate: float = 1.0
    ) -> None:
        self.name = name
        self.value = np.array(value)
        if trainable and not is_float(self.value.dtype):
            raise ArgumentError(f"parameter {name}: dtype = {self.value.dtype}, must be a float one if it is trainable")
        self.grad: Any = None
        self.trainable = trainable
        self.regularizer = regularizer
        self.learning_rate = learning_rate

    def gradient(self) -> Any:
        """A copy of the gradient, dense; None where there is none."""
        return self.grad.dense() if isinstance(self.grad, SparseRows) else None if self.grad is None else self.grad + 0

    def clear_gradient(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def __repr__(self) -> str:
        return f"EagerParameter({self.name!r}, {self.value!r})"


class Tensor(Value):
    """A value, and how it was computed.

    Args:
        function: computed the value from those of ``arguments``.
        arguments: tensors and parameters.
        gradient: replaces autograd where a gradient is no array; see `Operator`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Tensor | EagerParameter] = (),
        gradient: Callable[..., Any] | None = None,
    ) -> None:
        self._function = function
        self._arguments = tuple(arguments)
        self._seen = tuple(argument.value for argument in arguments)
        self._gradient = gradient
        self.value = np.asarray(function(*self._seen))
        self._depends: bool = any(
            argument.trainable if isinstance(argument, EagerParameter) else argument._depends for argument in arguments
        )

    @classmethod
    def of(cls, value: Any) -> Tensor:
        """A tensor as it is, a parameter as a tensor, or an array as a constant."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, EagerParameter):
            return cls(operators.same, [value])
        constant = np.array(value)
        return cls(lambda: constant)

    @classmethod
    def computed(cls, function: Callable[..., Any], *arguments: Any, gradient: Any = None) -> Tensor:
        """The tensor ``function(*arguments)``, for a function of `optimetry.reference.programs.operators`.

        Raises:
            ArgumentError: the shapes or dtypes do not fit.
        """
        operands = [each if isinstance(each, EagerParameter) else cls.of(each) for each in arguments]
        try:
            return cls(function, operands, gradient)
        except (TypeError, ValueError, IndexError) as error:
            shapes = ", ".join(f"{each.shape} {each.dtype}" for each in operands)
            raise ArgumentError(f"{getattr(function, '__name__', 'tensor')} of {shapes}: {error}") from error

    def backward(self) -> None:
        """Add the gradient of the sum of all elements to ``.grad`` of each trainable parameter."""
        gradients: dict[int, Any] = {id(self): np.ones_like(self.value)}
        parameters: dict[int, tuple[EagerParameter, Any]] = {}
        for tensor in self._newest_first():
            for argument, gradient in tensor._vjp(gradients.pop(id(tensor))):
                key = id(argument)
                if isinstance(argument, EagerParameter):
                    before = parameters[key][1] if key in parameters else None
                    parameters[key] = argument, _sum(before, gradient)
                else:
                    gradients[key] = _sum(gradients.get(key), gradient)
        for parameter, gradient in parameters.values():
            parameter.grad = _sum(parameter.grad, gradient)

    def _newest_first(self) -> list[Tensor]:
        """This tensor and those it depends on that depend on parameters, each before what it was computed from."""
        order: list[Tensor] = []
        seen: set[int] = set()
        waiting: list[tuple[Tensor, bool]] = [(self, False)] if self._depends else []
        while waiting:
            tensor, is_done = waiting.pop()
            if is_done:
                order.append(tensor)
            elif id(tensor) not in seen:
                seen.add(id(tensor))
                waiting.append((tensor, True))
                waiting += [(each, False) for each in tensor._arguments if isinstance(each, Tensor) and each._depends]
        return order[::-1]

    def _vjp(self, out_gradient: Any) -> list[tuple[Tensor | EagerParameter, Any]]:
        """The gradients of the arguments that lead to parameters."""
        which = tuple(
            i
            for i, each in enumerate(self._arguments)
            if (each.trainable if isinstance(each, EagerParameter) else each._depends)
        )
        if self._gradient is not None:
            results = [self._gradient(i, out_gradient, self._seen) for i in which]
        else:
            results = make_vjp(self._function, which)(*self._seen)[0](out_gradient)
        return [
            (self._arguments[i], each if isinstance(each, SparseRows) else np.asarray(each, self._seen[i].dtype))
            for i, each in zip(which, results, strict=True)
        ]

    def __repr__(self) -> str:
        return f"Tensor({self.value!r})"


def _sum(before: Any, gradient: Any) -> Any:
    """What is there plus a gradient: of two sparse ones sparse, else dense."""
    if before is None:
        return gradient
    if isinstance(before, SparseRows) and isinstance(gradient, SparseRows):
        return before + gradient
    dense = [each.dense() if isinstance(each, SparseRows) else each for each in (before, gradient)]
    return dense[0] + dense[1]


def mean(x: Any, shape: tuple[int, ...] = ()) -> Tensor:
    """The mean of all elements, 0-d, or of another shape that holds one element."""
    return Tensor.computed(operators.shaped(operators.mean, shape), x)


reduce_mean = mean
