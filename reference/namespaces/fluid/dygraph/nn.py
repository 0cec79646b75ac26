"""``fluid.dygraph.nn``: layers with eager parameters, with the arguments of fluid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import eager_layers, operators
from optimetry.reference.programs.building import Attr
from optimetry.reference.programs.eager import Tensor


class Linear(eager_layers.Linear):
    """``act(x @ weight + bias)``; see `optimetry.reference.programs.eager_layers.Linear`.

    Args:
        input_dim: columns of the input.
        output_dim: columns of the output.
        param_attr: of the weight.
        bias_attr: of the bias; False means none.
        act: the name of an activation, or None.
        dtype: of the parameters.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        param_attr: Attr = None,
        bias_attr: Attr | bool = None,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        if act is not None and act not in operators.ACTIVATIONS:
            raise ArgumentError(f"Linear: act = {act!r}, must be None or one of {', '.join(operators.ACTIVATIONS)}")
        super().__init__(input_dim, output_dim, None, dtype, weight_attr=param_attr, bias_attr=bias_attr)
        self._act = act

    def __call__(self, x: Any) -> Tensor:
        """The layer's output for x of shape (n, input_dim)."""
        out = super().__call__(x)
        return out if self._act is None else Tensor.computed(operators.ACTIVATIONS[self._act], out)


class Embedding(eager_layers.Embedding):
    """Rows of a table; ``Embedding([10, 10])``, and the older ``Embedding("emb", [10, 10])`` with a name before.

    Args:
        name_scope: the name, or the size where there is no name.
        size: rows and columns of the table.
        is_sparse: whether the gradient is `SparseRows`.
        param_attr: of the table.
        dtype: of the table.
    """

    def __init__(
        self,
        name_scope: Any = None,
        size: Sequence[int] | None = None,
        is_sparse: bool = False,
        *,
        param_attr: Attr = None,
        dtype: Any = "float32",
    ) -> None:
        named = isinstance(name_scope, str)
        name, lengths = (name_scope, size) if named or size is not None else (None, name_scope)
        if not isinstance(lengths, list | tuple) or len(lengths) != 2:
            raise ArgumentError(f"Embedding: size = {lengths!r}, must be a list of rows and columns")
        super().__init__(lengths[0], lengths[1], name, dtype, is_sparse=is_sparse, weight_attr=param_attr)
