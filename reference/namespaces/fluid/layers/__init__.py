"""``fluid.layers``: those that the pages' examples use. What takes a variable takes an eager tensor too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.fluid.dygraph.mode import enabled
from optimetry.fluid.layers import learning_rate_scheduler
from optimetry.fluid.layers.learning_rate_scheduler import noam_decay, piecewise_decay
from optimetry.reference.programs import eager, layers, operators
from optimetry.reference.programs.layers import (
    concat,
    create_parameter,
    cross_entropy,
    dropout,
    embedding,
    fc,
)
from optimetry.reference.programs.program import Variable

__all__ = [
    "concat",
    "create_global_var",
    "create_parameter",
    "cross_entropy",
    "data",
    "dropout",
    "embedding",
    "fc",
    "learning_rate_scheduler",
    "mean",
    "noam_decay",
    "piecewise_decay",
    "reduce_mean",
    "reduce_sum",
    "square_error_cost",
]

SCALAR = (1,)
"""The shape of what fluid reduces to one element."""


def data(
    name: str, shape: Sequence[int | None], append_batch_size: bool = True, dtype: Any = "float32", lod_level: int = 0
) -> Variable:
    """A variable that is fed, with a batch axis of any length before the shape, unless the shape has one.

    Arguments as for `optimetry.reference.programs.layers.data`, in the order of fluid.
    """
    has_one = isinstance(shape, list | tuple) and any(length is None or length == -1 for length in shape)
    return layers.data(name, shape, dtype, append_batch_size and not has_one, lod_level)


def fluid_data(name: str, shape: Sequence[int | None], dtype: Any = "float32", lod_level: int = 0) -> Variable:
    """``fluid.data``: a variable that is fed, of exactly this shape; None or -1 is a length that the array decides."""
    return layers.data(name, shape, dtype, False, lod_level)


def mean(x: Any) -> Any:
    """The mean of all elements, of shape (1,)."""
    return layers.mean(x, SCALAR) if isinstance(x, Variable) else eager.mean(x, SCALAR)


def reduce_mean(input: Any) -> Any:  # noqa: A002 - the documented name
    """The mean of all elements, of shape (1,)."""
    return layers.reduce_mean(input, SCALAR) if isinstance(input, Variable) else eager.mean(input, SCALAR)


def reduce_sum(input: Any) -> Any:  # noqa: A002 - the documented name
    """The sum of all elements, of shape (1,)."""
    if isinstance(input, Variable):
        return layers.reduce_sum(input, SCALAR)
    return eager.Tensor.computed(operators.shaped(operators.reduce_sum, SCALAR), input)


def square_error_cost(input: Any, label: Any) -> Any:  # noqa: A002 - the documented names
    """The squared error of each element."""
    if isinstance(input, Variable):
        return layers.square_error_cost(input, label)
    return eager.Tensor.computed(operators.square_error_cost, input, label)


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = False, name: str | None = None
) -> Any:
    """A variable that the startup program fills with a value; inside ``dygraph.guard()`` an eager tensor.

    Outside, it is always persistable here, because the startup program's values live in the scope.
    """
    if enabled():
        return eager.Tensor.of(np.full(tuple(shape), value, dtype))
    return layers.create_global_var(shape, value, dtype, True, name)
