"""Gradients of which only some rows are stored, as a sparse embedding produces them."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError
from optimetry.reference.rule import Array


class SparseRows:
    """Rows of a gradient that is zero elsewhere; a row given several times counts as the sum.

    Args:
        rows: row numbers, integers, shape (n,), in any order, perhaps repeated.
        values: the rows, shape (n, ...), in the parameter's dtype.
        height: the number of rows of the parameter.

    Raises:
        ArgumentError: the shapes do not fit, or a row number is no integer or outside [0, height).
        HyperparameterError: the height is no whole number.
    """

    def __init__(self, rows: Any, values: Array, height: int) -> None:
        numbers = np.asarray(rows)
        if numbers.size and numbers.dtype.kind not in "iu":
            raise ArgumentError(f"sparse rows: row numbers {numbers.tolist()}, must be integers")
        self.rows = numbers.astype(np.int64)
        self.values = np.asarray(values)
        self.height = height = whole("sparse rows", "height", height, "[0, inf)")
        if self.rows.ndim != 1 or self.values.shape[:1] != self.rows.shape:
            raise ArgumentError(f"sparse rows: {self.rows.shape} row numbers for values of shape {self.values.shape}")
        if np.any((self.rows < 0) | (self.rows >= height)):
            raise ArgumentError(f"sparse rows: row numbers {self.rows.tolist()}, must be in [0, {height})")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole gradient."""
        return (self.height, *self.values.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of row numbers and values."""
        return self.rows.nbytes + self.values.nbytes

    def merged(self) -> SparseRows:
        """The same gradient with every row once, in ascending order."""
        rows, place = np.unique(self.rows, return_inverse=True)
        values = np.zeros((len(rows), *self.values.shape[1:]), self.dtype)
        with np.errstate(all="ignore"):
            np.add.at(values, place, self.values)
        return SparseRows(rows, values, self.height)

    def dense(self) -> Array:
        """The whole gradient as an array."""
        whole = np.zeros(self.shape, self.dtype)
        merged = self.merged()
        whole[merged.rows] = merged.values
        return whole

    def with_values(self, values: Array) -> SparseRows:
        """The same rows with other values."""
        return SparseRows(self.rows, values, self.height)

    def __add__(self, other: SparseRows) -> SparseRows:
        rows, values = np.concatenate([self.rows, other.rows]), np.concatenate([self.values, other.values])
        return SparseRows(rows, values, self.height)

    def __repr__(self) -> str:
        return f"SparseRows({self.rows.tolist()} of {self.height}, {self.values!r})"
