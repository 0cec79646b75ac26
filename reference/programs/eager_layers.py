"""Layers with eager parameters: `Linear` and `Embedding`."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import naming, operators
from optimetry.reference.programs.building import Attr, Initializer, attr_of, xavier, zeros
from optimetry.reference.programs.eager import EagerParameter, Tensor
from optimetry.reference.sparse import SparseRows
from optimetry.reference.states import check_state


class ParameterValues(dict[str, Any]):
    """The values of a layer's parameters by name, as `Layer.state_dict` returns them."""


class Layer:
    """The base of the eager layers: parameters, and their values by name."""

    def parameters(self) -> list[EagerParameter]:
        """The parameters, in the order in which they were made."""
        return [value for value in vars(self).values() if isinstance(value, EagerParameter)]

    def state_dict(self) -> ParameterValues:
        """Copies of the values by name of parameter."""
        return ParameterValues({parameter.name: np.array(parameter.value) for parameter in self.parameters()})

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Put values into the parameters.

        Raises:
            StateError: it is no dict, a name is missing or unknown, or a value has another shape or dtype; nothing has
                changed.
        """
        check_state(type(self).__name__, state_dict, self.state_dict())
        for parameter in self.parameters():
            parameter.value = np.array(state_dict[parameter.name])

    set_dict = set_state_dict

    def clear_gradients(self) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.clear_gradient()

    def __repr__(self) -> str:
        shapes = ", ".join(f"{parameter.name} {parameter.shape}" for parameter in self.parameters())
        return f"{type(self).__name__}({shapes})"


class Linear(Layer):
    """``x @ weight + bias``, the weight drawn from Xavier's uniform distribution and the bias 0.

    Args:
        in_features: columns of the input.
        out_features: columns of the output.
        name: the parameters are ``name.w_0`` and ``name.b_0``, or a higher number where these are taken; it decides
            the random numbers. None means ``linear_0``, ``linear_1``, …
        dtype: of the parameters.
        weight_attr: of the weight.
        bias_attr: of the bias; False means none.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        name: str | None = None,
        dtype: Any = "float32",
        *,
        weight_attr: Attr = None,
        bias_attr: Attr | bool = None,
    ) -> None:
        shape = tuple(whole("Linear", "features", length, "[1, inf)") for length in (in_features, out_features))
        name = naming.unique("linear") if name is None else name
        self.weight = _parameter(f"{name}.w", shape, dtype, weight_attr, xavier)
        self.bias = None if bias_attr is False else _parameter(f"{name}.b", shape[1:], dtype, bias_attr, zeros)

    def __call__(self, x: Any) -> Tensor:
        """The layer's output for x of shape (n, in_features)."""
        product = Tensor.computed(operators.mul, x, self.weight)
        return product if self.bias is None else Tensor.computed(operators.add, product, self.bias)


class Embedding(Layer):
    """Rows of a table, ``name.w_0`` of shape (height, width).

    Args:
        height: the number of rows.
        width: the number of columns.
        name: decides the name of the table and its random numbers; see `Linear`.
        dtype: of the table.
        is_sparse: whether the gradient of the table is `SparseRows`.
        weight_attr: of the table.
    """

    def __init__(
        self,
        height: int,
        width: int,
        name: str | None = None,
        dtype: Any = "float32",
        *,
        is_sparse: bool = False,
        weight_attr: Attr = None,
    ) -> None:
        shape = tuple(whole("Embedding", "size", length, "[1, inf)") for length in (height, width))
        name = naming.unique("embedding") if name is None else name
        self.weight = _parameter(f"{name}.w", shape, dtype, weight_attr, xavier)
        self.is_sparse = is_sparse

    def __call__(self, ids: Any) -> Tensor:
        """The rows of the table for integers of any shape, in which each becomes a row."""
        numbers = np.asarray(ids.value if isinstance(ids, Tensor) else ids)
        height, width = self.weight.shape
        if numbers.dtype.kind != "i":
            raise ArgumentError(f"Embedding: row numbers of dtype {numbers.dtype}, must be integers")

        def rows_of_gradient(index: int, gradient: Any, inputs: Any) -> SparseRows:
            return SparseRows(numbers.reshape(-1), gradient.reshape(-1, width), height)

        gradient = rows_of_gradient if self.is_sparse else None
        return Tensor.computed(operators.lookup, self.weight, numbers[..., np.newaxis], gradient=gradient)


def _parameter(prefix: str, shape: tuple[int, ...], dtype: Any, attr: Any, default: Initializer) -> EagerParameter:
    attr = attr_of(prefix, attr)
    name = attr.name or naming.unique(prefix)
    value = (attr.initializer or default)(np.random.default_rng(zlib.crc32(name.encode())), shape)
    return EagerParameter(
        name,
        np.asarray(value).astype(dtype),
        trainable=attr.trainable,
        regularizer=attr.regularizer,
        learning_rate=attr.learning_rate,
    )
