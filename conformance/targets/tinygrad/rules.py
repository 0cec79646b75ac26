"""Runs of ``tinygrad.nn.optim``: one optimizer over all parameters, each of which has a gradient in every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.offers import ClassOffer

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper

DTYPES = ("float16", "float32", "float64")
"""Those that tinygrad and NumPy both have."""


@dataclass(frozen=True)
class TinygradOptimizer(ClassOffer):
    """Maps one documented rule to a class or a function of ``tinygrad.nn.optim`` and its arguments."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why tinygrad refuses, None where it does not."""
        if dtype == "float64" and hyper.get("momentum"):
            return "tinygrad keeps a momentum in float32, and refuses to add float64 gradients to it"
        if self.cls == "Muon" and engine == "fused":
            return "tinygrad refuses to fuse Muon"
        return None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> TinygradRun:
        """Begin a run."""
        keywords = {**self.keywords(hyper), "fused": engine == "fused"}
        return TinygradRun(self, keywords, parameters)


class TinygradRun:
    """Parameters and their optimizer."""

    def __init__(self, offer: TinygradOptimizer, keywords: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        from tinygrad import Tensor
        from tinygrad.nn import optim

        self._slots = offer.slots
        self._parameters = [Tensor(np.array(parameter)).realize() for parameter in parameters]
        self._optimizer = getattr(optim, offer.cls)(self._parameters, lr=0.0, **keywords)

    def step(self, grads: list[Array], learning_rate: float) -> list[Array]:
        """Update all parameters."""
        from tinygrad import Tensor
        from tinygrad.helpers import Context

        rate = self._optimizer.lr
        rate.assign(Tensor([learning_rate], dtype=rate.dtype)).realize()
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = Tensor(np.array(grad))
        with Context(TRAINING=1):
            self._optimizer.step()
        return [parameter.numpy() for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Return what the optimizer holds of each parameter, and the powers of decays, which all share."""
        slots = {
            slot: self._apart(held) for slot, name in self._slots.items() if (held := getattr(self._optimizer, name))
        }
        powers = {name: getattr(self._optimizer, name).numpy() for name in self._powers()}
        return slots | {name: [np.array(power) for _ in self._parameters] for name, power in powers.items()}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        from tinygrad import Tensor

        held = {name: [getattr(self._optimizer, name)] for name in self._powers()}
        held |= {slot: getattr(self._optimizer, name) for slot, name in self._slots.items()}
        for slot, arrays in state.items():
            together = self._optimizer.fused and slot in self._slots
            values = [np.concatenate([array.reshape(-1) for array in arrays])] if together else arrays
            for tensor, value in zip(held[slot], values, strict=False):  # a power is the same for all
                tensor.assign(Tensor(np.array(value))).realize()

    def _powers(self) -> list[str]:
        return [name for name in ("b1_t", "b2_t") if hasattr(self._optimizer, name)]

    def _apart(self, held: Sequence[Any]) -> list[Array]:
        """Return one array for each parameter, also where the optimizer holds one of all."""
        if not self._optimizer.fused:
            return [tensor.numpy() for tensor in held]
        ends = np.cumsum([parameter.numel() for parameter in self._parameters])[:-1]
        parts = np.split(held[0].numpy(), ends)
        return [part.reshape(parameter.shape) for part, parameter in zip(parts, self._parameters, strict=True)]
