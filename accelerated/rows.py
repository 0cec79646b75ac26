"""Gradients of a few rows of a parameter, as of an embedding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optimetry.accelerated.devices.interface import Device
from optimetry.accelerated.dtypes import Array, DtypePair


@dataclass(frozen=True, eq=False)
class Rows:
    """The gradient of some rows of one parameter; the other rows have none.

    sgd, adagrad, and adam with ``lazy_mode=True``, update the given rows and keep the bits of the others, their state
    included; every other rule takes zeros for the others, and may move them. The gradients of a row that is given twice
    are summed.

    Attributes:
        ids: the numbers of the rows, integers in [0, rows of the parameter), shape (k,). Beside CuPy arrays they may be
            NumPy arrays; CuPy arrays are waited for and copied.
        values: their gradients, dtype of the parameter, shape (k, *parameter.shape[1:]).
    """

    ids: Array
    values: Array

    def summed(self, dtypes: DtypePair, device: Device) -> Rows:
        """Return the gradient with every row once: itself, or the sums of rows in ascending order.

        Narrow rows are summed wide, rounded once.
        """
        ids, inverse = np.unique(self.ids, return_inverse=True)
        if len(ids) == len(self.ids):
            return self
        values = np.zeros((len(ids), *self.values.shape[1:]), dtypes.compute)
        with np.errstate(all="ignore"):  # in the order given, which no sum on a CUDA device would keep
            np.add.at(values, inverse, device.copied(self.values).astype(dtypes.compute))
            return Rows(ids, device.given(values.astype(dtypes.dtype)))

    def dense(self, shape: tuple[int, ...], dtypes: DtypePair, device: Device) -> Array:
        """Return the gradient of the whole parameter, zero in the rows that are not given."""
        once = self.summed(dtypes, device)
        whole = device.zeros(math.prod(shape), dtypes.dtype).reshape(shape)
        whole[device.given(once.ids)] = once.values
        return whole
