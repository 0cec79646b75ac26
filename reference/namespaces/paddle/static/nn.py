"""``paddle.static.nn``: layers of programs, with the argument names of paddle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimetry.reference.programs import layers
from optimetry.reference.programs.program import Variable

__all__ = ["fc"]


def fc(
    x: Variable | Sequence[Variable],
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Variable:
    """A fully connected layer; see `optimetry.reference.programs.layers.fc`."""
    return layers.fc(x, size, num_flatten_dims, weight_attr, bias_attr, activation, name)
