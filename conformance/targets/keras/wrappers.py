"""Runs of Keras' clips and moving averages: arguments of every optimizer, so plain SGD carries them.

Runs live in the backend's process, as `FarWrapper` of `optimetry.conformance.targets.keras.process`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optimetry.conformance.targets.keras.backend import Near
from optimetry.conformance.targets.offers import Offer, lopsided

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class KerasArgument(Offer):
    """Maps one documented wrapper to an argument that every class of ``keras.optimizers`` takes."""

    keyword: str
    """The keyword of the optimizer."""
    source: str
    """The documented hyperparameter that it takes."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Other keywords."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why Keras does not offer these hyperparameters."""
        if lopsided(hyper):
            return f"{self.keyword} clips to [-c, c] only"
        return "keras.optimizers have no schedule of the moving average's decay" if hyper.get("scheduled") else None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> NearWrapper:
        """Begin a run."""
        return NearWrapper(engine, "start_wrapper", {self.keyword: hyper[self.source], **self.constants}, parameters)


class NearWrapper(Near):
    """The client side of one run of a wrapper."""

    def transform(self, grads: list[Array]) -> list[Array]:
        """As `FarWrapper.transform`."""
        result: list[Array] = self._ask("transform", grads)
        return result

    def update(self, parameters: list[Array]) -> None:
        """As `FarWrapper.update`."""
        self._ask("update", parameters)

    def apply(self) -> list[Array]:
        """As `FarWrapper.apply`."""
        result: list[Array] = self._ask("apply")
        return result

    def restore(self) -> list[Array]:
        """As `FarWrapper.restore`."""
        result: list[Array] = self._ask("restore")
        return result
