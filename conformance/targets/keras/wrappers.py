"""Keras' clips and moving averages: arguments of every optimizer, so plain SGD carries them.

Runs live in the backend's process, as `FarWrapper` of `optimetry.conformance.targets.keras.process`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.protocol import Hyper

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


def keywords(wrapper: str, hyper: Hyper) -> dict[str, object]:
    """The keyword arguments of the optimizer for ``hyper``."""
    keyword, name = ARGUMENTS[wrapper]
    average = {"use_ema": True} if wrapper == "exponential_moving_average" else {}
    return {keyword: hyper[name], **average}


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
