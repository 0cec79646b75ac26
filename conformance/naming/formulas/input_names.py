"""Names the inputs of a program, of which edits make new parts."""

from __future__ import annotations

from typing import NamedTuple

from optimetry.conformance.naming.formulas.programs import GRAD, PARAM, RATE, STEP


class InputNames(NamedTuple):
    """The names of the inputs that differ from program to program.

    Attributes:
        slots: the names of all slots.
        hyperparameters: the names of the real ones.
    """

    slots: tuple[str, ...]
    hyperparameters: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of all inputs."""
        return (PARAM, GRAD, RATE, STEP, *self.slots, *self.hyperparameters)
