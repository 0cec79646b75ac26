"""``fluid.initializer``: the first values of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ConstantInitializer:
    """Every element the same.

    Attributes:
        value: the element.
    """

    value: float = 0.0

    def __call__(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """The first value of a parameter of that shape."""
        return np.full(shape, self.value)


@dataclass(frozen=True, eq=False)
class NumpyArrayInitializer:
    """A given array.

    Attributes:
        value: the array, of the parameter's shape.
    """

    value: Any

    def __call__(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """The first value of a parameter of that shape."""
        return np.reshape(self.value, shape)


Constant = ConstantInitializer
