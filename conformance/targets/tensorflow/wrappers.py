"""Runs of TensorFlow's clips and of its moving average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optimetry.conformance.targets.offers import Offer

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class Clip(Offer):
    """Maps a documented clip to a function of gradients."""

    function: str
    """Its name in ``tf``."""
    limits: tuple[str, ...]
    """The documented hyperparameters that it takes."""
    together: bool = False
    """Whether it takes all gradients at once."""

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Clipping:
        """Begin a run."""
        return Clipping(self, [hyper[name] for name in self.limits])


class Clipping:
    """A clip and its limits."""

    def __init__(self, clip: Clip, limits: Sequence[float]) -> None:
        import tensorflow as tf

        self._function, self._limits, self._together = getattr(tf, clip.function), limits, clip.together

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return the clipped gradients."""
        import tensorflow as tf

        if self._together:
            clipped, _ = self._function([tf.constant(grad) for grad in grads], *self._limits)
        else:
            clipped = [self._function(tf.constant(grad), *self._limits) for grad in grads]
        return [np.array(grad.numpy()) for grad in clipped]


@dataclass(frozen=True)
class Average(Offer):
    """Maps the documented moving average to ``tf.train.ExponentialMovingAverage``."""

    decay: str
    """The documented hyperparameter that it takes."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why TensorFlow does not offer these hyperparameters."""
        return "num_updates of tensorflow stands for another schedule" if hyper.get("scheduled") else None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Averaging:
        """Begin a run."""
        return Averaging(hyper[self.decay], parameters)


class Averaging:
    """Variables, and the averages that TensorFlow keeps of them."""

    def __init__(self, decay: float, parameters: Sequence[Array]) -> None:
        import tensorflow as tf

        self._variables = [tf.Variable(np.array(parameter)) for parameter in parameters]
        self._averages = tf.train.ExponentialMovingAverage(decay)
        self._training = [np.array(parameter) for parameter in parameters]

    def update(self, parameters: list[Array]) -> None:
        """Assign the parameters of training, and call ``apply``, which feeds the averages."""
        self._training = [np.array(parameter) for parameter in parameters]
        self._assign(self._training)
        self._averages.apply(self._variables)

    def apply(self) -> list[Array]:
        """Assign the averages to the variables."""
        self._assign([self._averages.average(variable).numpy() for variable in self._variables])
        return [np.array(variable.numpy()) for variable in self._variables]

    def restore(self) -> list[Array]:
        """Assign the parameters of training."""
        self._assign(self._training)
        return [np.array(variable.numpy()) for variable in self._variables]

    def _assign(self, arrays: Sequence[Array]) -> None:
        for variable, array in zip(self._variables, arrays, strict=True):
            variable.assign(array)
