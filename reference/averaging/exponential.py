"""The exponential moving average of a list of arrays, corrected for its start at zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from optimetry.reference.rule import Array


class Decayed(NamedTuple):
    """The state of an exponential average.

    Attributes:
        product: the product of the decays so far, a scalar; 1 before the first update.
        biased: the averages before their correction, shaped like the parameters.
    """

    product: Any
    biased: Sequence[Array]


@dataclass(frozen=True)
class ExponentialAverage:
    r"""The numbers behind `ExponentialMovingAverage`, for any kind of array that NumPy functions dispatch on.

    Symbols: :math:`e` average, :math:`d` decay of this update, :math:`w` parameter.

    .. math::
        e \leftarrow d\, e + (1 - d)\, w \qquad \hat e = \frac{e}{1 - \prod d}

    Documented: fluid.optimizer.ExponentialMovingAverage (page 000).
    Decision: the page divides by :math:`1 - d^t`, which is the bias for a constant decay alone. Under a schedule the
    weights of all updates sum to :math:`1 - \prod d`, so the product is kept, as a double beside arrays of any dtype.

    Attributes:
        decay: the largest decay, in [0, 1).
    """

    decay: Any

    def decay_at(self, thres_steps: int | None) -> Any:
        """The decay of one update: ``min(decay, (1 + thres_steps) / (10 + thres_steps))`` where it is scheduled."""
        if thres_steps is None:
            return self.decay
        scheduled = self.scheduled(thres_steps)
        if isinstance(self.decay, float):
            return min(self.decay, scheduled)  # stays a Python number, which takes the dtype of the array it meets
        return np.minimum(self.decay, scheduled)

    def scheduled(self, thres_steps: int) -> Any:
        """The decay that the schedule alone gives."""
        return (1 + thres_steps) / (10 + thres_steps)

    def start(self, parameters: Sequence[Array]) -> Decayed:
        """The state before the first update."""
        return Decayed(1.0, [np.zeros_like(param) for param in parameters])

    def update(self, state: Decayed, parameters: Sequence[Array], thres_steps: int | None = None) -> Decayed:
        """The state with these parameters averaged in, arrays of the same shapes and dtypes at each update."""
        decay = self.decay_at(thres_steps)
        biased = [decay * e + (1 - decay) * param for e, param in zip(state.biased, parameters, strict=True)]
        return Decayed(decay * state.product, biased)

    def averages(self, state: Decayed) -> list[Array]:
        """The averages, corrected for the bias towards zero; NaN before the first update."""
        return [e / (1 - state.product) for e in state.biased]
