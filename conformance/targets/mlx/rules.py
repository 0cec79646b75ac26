"""Runs of ``mlx.optimizers``: an optimizer for each parameter, since MLX counts the steps of an optimizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.offers import ClassOffer, refused_nesterov

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper

DTYPES = ("float16", "float32", "float64")
"""Those that MLX and NumPy both have."""

KEY = "w"
"""The one parameter's name in the tree that an optimizer updates."""


@dataclass(frozen=True)
class MlxClass(ClassOffer):
    """Maps one documented rule to a class of ``mlx.optimizers`` and its arguments."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why MLX refuses, None where it does not."""
        if dtype not in DTYPES:
            return f"mlx gives NumPy no {dtype}"
        if self.cls == "SGD" and refused_nesterov(hyper):
            return "mlx.optimizers.SGD refuses nesterov without momentum, or with dampening"
        return self.zero_refused("mlx.optimizers", hyper)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> MlxRun:
        """Begin a run."""
        return MlxRun(self, self.keywords(hyper), parameters)


class MlxRun:
    """Parameters, and an optimizer for each."""

    def __init__(self, entry: MlxClass, keywords: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        from mlx import optimizers

        self._entry = entry
        self._parameters = [array_of(parameter) for parameter in parameters]
        self._optimizers = [getattr(optimizers, entry.cls)(learning_rate=0.0, **keywords) for _ in parameters]
        for optimizer, parameter in zip(self._optimizers, self._parameters, strict=True):
            optimizer.init({KEY: parameter})

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Update each parameter whose gradient is not None."""
        import mlx.core as mx

        for i, (optimizer, grad) in enumerate(zip(self._optimizers, grads, strict=True)):
            if grad is not None:
                optimizer.learning_rate = learning_rate
                after = optimizer.apply_gradients({KEY: array_of(grad)}, {KEY: self._parameters[i]})
                self._parameters[i] = after[KEY]
        mx.eval(self._parameters)
        return [np.array(parameter) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Return what each optimizer holds of its parameter, and how often it was updated."""
        names = {kept: slot for slot, kept in self._entry.slots.items()}
        slots = {"step": [np.array(optimizer.state["step"]) for optimizer in self._optimizers]}
        for name in self._optimizers[0].state[KEY] if self._optimizers else ():
            slots[names.get(name, name)] = [np.array(optimizer.state[KEY][name]) for optimizer in self._optimizers]
        return slots

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        import mlx.core as mx

        for i, optimizer in enumerate(self._optimizers):
            optimizer.state["step"] = mx.array(state["step"][i], mx.uint64)
            for slot, arrays in state.items():
                if slot != "step":
                    optimizer.state[KEY][self._entry.slots.get(slot, slot)] = array_of(arrays[i])


def array_of(array: Array) -> Any:
    """Return an array of MLX with its dtype; left to itself, MLX makes float32 of float64."""
    import mlx.core as mx

    return mx.array(array, getattr(mx, array.dtype.name))
