"""Runs of MLX' clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optimetry.conformance.targets.mlx.rules import DTYPES, array_of
from optimetry.conformance.targets.offers import Offer

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class Clip(Offer):
    """Maps the documented clip to ``mlx.optimizers.clip_grad_norm``."""

    limit: str
    """The documented hyperparameter that it takes."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why MLX refuses, None where it does not."""
        return None if dtype in DTYPES else f"mlx gives NumPy no {dtype}"

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Clipping:
        """Begin a run."""
        return Clipping(hyper[self.limit])


class Clipping:
    """The largest norm that gradients may have."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return the clipped gradients."""
        from mlx import optimizers

        clipped, _ = optimizers.clip_grad_norm([array_of(grad) for grad in grads], self._limit)
        return [np.array(grad) for grad in clipped]
