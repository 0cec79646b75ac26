"""Runs of ``keras.optimizers``, which live in the process of a backend as `FarRun`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimetry.conformance.targets.keras.backend import Near
from optimetry.conformance.targets.offers import ClassOffer

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class KerasClass(ClassOffer):
    """Maps one documented rule to a class of ``keras.optimizers`` and its arguments."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why Keras refuses these hyperparameters, None where it does not."""
        return self.zero_refused("keras.optimizers", hyper)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> KerasRun:
        """Begin a run."""
        return KerasRun(self, hyper, parameters, engine)


class KerasRun(Near):
    """The client side of one run of an optimizer."""

    def __init__(self, entry: KerasClass, hyper: Hyper, parameters: Sequence[Array], engine: str) -> None:
        super().__init__(engine, "start", entry.cls, entry.keywords(hyper), list(parameters))
        self._slots = {variable: slot for slot, variable in entry.slots.items()}

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Step every optimizer whose parameters have gradients."""
        after: list[Array] = self._ask("step", grads, float(learning_rate))
        return after

    def state(self) -> dict[str, list[Array]]:
        """Return the optimizers' variables, one of each name for each parameter; ``iteration`` counts the steps."""
        return {self._slots.get(name, name): arrays for name, arrays in self._ask("state").items()}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        names = {slot: name for name, slot in self._slots.items()}
        self._ask("load", {names.get(slot, slot): value for slot, value in state.items()})
