"""NumPy arrays in the memory of the processor."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.accelerated.dtypes import Array


class Host:
    """The memory of the processor; see `Device` for what it offers."""

    library = "NumPy"
    kind: type[Any] = np.ndarray
    engines: tuple[str, ...] = ("numba", "numpy")

    def obstacle(self, parameter: Any) -> str | None:
        """Return why a parameter cannot be written."""
        return None if parameter.flags.writeable else "is read-only, must be writeable: it is updated in place"

    def contiguous(self, array: Any) -> Array:
        """Return the array, or a copy."""
        return np.require(array, requirements=["C", "A"])

    def zeros(self, size: int, dtype: Any) -> Array:
        """Make zeros, which take memory once they are written."""
        return np.zeros(size, dtype)

    def given(self, array: Array) -> Array:
        """Return the array itself."""
        return array

    def copied(self, array: Array) -> Array:
        """Copy the array."""
        return np.array(array)

    def assign(self, target: Array, values: Array) -> None:
        """Assign as NumPy does, without a warning where a number is too large for the target."""
        with np.errstate(all="ignore"):
            target[...] = values


HOST = Host()
