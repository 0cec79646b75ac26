"""Keras' clips and moving averages: arguments of every optimizer, so plain SGD carries them.

From zero, with learning rate 1, a step of SGD leaves minus the clipped gradient, to the bit; with gradients of zero it
leaves the parameters as they are, and takes them into the moving average. Runs live in the backend's process; the
classes here are the far end of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.conformance.targets.target import Array, Hyper

ABSENT: Mapping[str, str] = {
    "dgc_compress": "keras has no deep gradient compression",
    "l1_decay": "keras.regularizers are terms of the loss: an optimizer's weight_decay is decoupled",
    "l2_decay": "keras.regularizers are terms of the loss: an optimizer's weight_decay is decoupled",
    "clip_then_decay": "keras.regularizers are terms of the loss, so clips come behind them",
    "model_average": "keras.optimizers have no average over windows",
}

ARGUMENTS: Mapping[str, tuple[str, str]] = {
    "clip_by_value": ("clipvalue", "max"),
    "clip_by_norm": ("clipnorm", "clip_norm"),
    "clip_by_global_norm": ("global_clipnorm", "clip_norm"),
    "exponential_moving_average": ("ema_momentum", "decay"),
}
"""Keyword of the optimizer, and the documented hyperparameter."""


def unsupported(wrapper: str, hyper: Hyper) -> str | None:
    """Why Keras does not offer this wrapper or these hyperparameters."""
    if wrapper in ABSENT:
        return ABSENT[wrapper]
    if wrapper == "clip_by_value" and hyper["min"] != -hyper["max"]:
        return "clipvalue clips to [-c, c] only"
    if hyper.get("scheduled"):
        return "keras.optimizers have no schedule of the moving average's decay"
    return None


class FarWrapper:
    """The far end of one run of a wrapper: variables, and an optimizer."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> None:
        import keras

        keyword, name = ARGUMENTS[wrapper]
        average = {"use_ema": True} if wrapper == "exponential_moving_average" else {}
        self._dtype = parameters[0].dtype.name if parameters else "float32"
        keras.config.set_floatx(self._dtype)
        self._variables = [
            keras.Variable(array, dtype=self._dtype, name=f"parameter{i}") for i, array in enumerate(parameters)
        ]
        self._optimizer = keras.optimizers.SGD(learning_rate=1.0, **{keyword: hyper[name]}, **average)
        self._optimizer.build(self._variables)
        self._training = parameters

    def transform(self, grads: list[Array]) -> list[Array]:
        """Minus the parameters after a step from zero."""
        self._assign([np.zeros_like(grad) for grad in grads])
        self._step(grads)
        return [np.array(-array) for array in self._values()]

    def update(self, parameters: list[Array]) -> None:
        """A step without gradients on these parameters."""
        self._training = parameters
        self._assign(parameters)
        self._step([np.zeros_like(array) for array in parameters])

    def apply(self) -> list[Array]:
        """``finalize_variable_values``, which puts the averages into the variables."""
        from optimetry.conformance.targets.keras import without_gradients

        with without_gradients():
            self._optimizer.finalize_variable_values(self._variables)
        return self._values()

    def restore(self) -> list[Array]:
        """The parameters of training, assigned: Keras itself keeps no copy."""
        self._assign(self._training)
        return self._values()

    def _step(self, grads: list[Array]) -> None:
        import keras

        from optimetry.conformance.targets.keras import without_gradients

        keras.config.set_floatx(self._dtype)
        given = [keras.ops.convert_to_tensor(grad) for grad in grads]
        with without_gradients():
            self._optimizer.apply(given, self._variables)

    def _assign(self, arrays: list[Array]) -> None:
        for variable, array in zip(self._variables, arrays, strict=True):
            variable.assign(array)

    def _values(self) -> list[Array]:
        import keras

        return [np.array(keras.ops.convert_to_numpy(variable)) for variable in self._variables]


class NearWrapper:
    """The near end of one run of a wrapper: every call is one request to the backend's process."""

    def __init__(self, backend: Any, number: int) -> None:
        self._backend, self._number = backend, number

    def transform(self, grads: list[Array]) -> list[Array]:
        """As `FarWrapper.transform`."""
        given: list[Array] = self._backend.ask("transform", self._number, (grads,))
        return given

    def update(self, parameters: list[Array]) -> None:
        """As `FarWrapper.update`."""
        self._backend.ask("update", self._number, (parameters,))

    def apply(self) -> list[Array]:
        """As `FarWrapper.apply`."""
        given: list[Array] = self._backend.ask("apply", self._number, ())
        return given

    def restore(self) -> list[Array]:
        """As `FarWrapper.restore`."""
        given: list[Array] = self._backend.ask("restore", self._number, ())
        return given
