"""How numbers are held and computed: the dtype of parameters and gradients, and the dtype of arithmetic and state.

float32 and float64 are computed in themselves. float16 and bfloat16 are computed in float32 and keep their state in
float32, with ``multi_precision`` or without: a second moment with beta2 = 0.999 never moves in eight bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Format:
    """How the parameters of one dtype are held and computed.

    Attributes:
        dtype: of parameters and gradients.
        compute: of arithmetic, state and master copies.
    """

    dtype: np.dtype[Any]
    compute: np.dtype[Any]

    @property
    def name(self) -> str:
        """The dtype's name."""
        return self.dtype.name

    @property
    def narrow(self) -> bool:
        """Whether arithmetic is wider than what is held."""
        return self.dtype != self.compute


_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

FORMATS = {
    form.name: form
    for form in (
        Format(np.dtype(np.float16), _SINGLE),
        Format(np.dtype(ml_dtypes.bfloat16), _SINGLE),
        Format(_SINGLE, _SINGLE),
        Format(_DOUBLE, _DOUBLE),
    )
}
"""The formats by the name of their dtype."""
