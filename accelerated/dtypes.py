"""Pairs the dtype that parameters and gradients are stored in with the dtype of arithmetic and state.

float32 and float64 are computed in themselves. float16 and bfloat16 are computed in float32 and keep their state in
float32, with ``multi_precision`` or without: with eight bits, a second moment with beta2 = 0.999 never changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
"""A NumPy array, or an array of another library that lies on its device."""


@dataclass(frozen=True)
class DtypePair:
    """How the parameters of one dtype are stored and computed.

    Attributes:
        dtype: of parameters and gradients.
        compute: of arithmetic, state and master copies.
    """

    dtype: np.dtype[Any]
    compute: np.dtype[Any]

    @property
    def name(self) -> str:
        """The name of the dtype of parameters."""
        return self.dtype.name

    @property
    def narrow(self) -> bool:
        """Whether arithmetic is wider than what is stored."""
        return self.dtype != self.compute


_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

DTYPES = {
    dtypes.name: dtypes
    for dtypes in (
        DtypePair(np.dtype(np.float16), _SINGLE),
        DtypePair(np.dtype(ml_dtypes.bfloat16), _SINGLE),
        DtypePair(_SINGLE, _SINGLE),
        DtypePair(_DOUBLE, _DOUBLE),
    )
}
"""The dtypes of parameters by name."""
