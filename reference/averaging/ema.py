"""The documented class ExponentialMovingAverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.reference.arguments import checked_name
from optimetry.reference.averaging.applied import Applied
from optimetry.reference.averaging.exponential import Decayed, ExponentialAverage
from optimetry.reference.domains import real
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs.program import Variable, all_or_nothing
from optimetry.reference.rule import Array


class ExponentialMovingAverage(Applied):
    """Exponential moving averages of the trainable parameters of a program; the numbers are `ExponentialAverage`'s.

    Args:
        decay: the decay, in [0, 1).
        thres_steps: a variable with one number, such as the global step; where given, the decay is scheduled by it.
        name: accepted as documented; not used.

    Raises:
        HyperparameterError: the decay is not in [0, 1).
        ArgumentError: ``thres_steps`` is not a variable with one number.

    Documented: fluid.optimizer.ExponentialMovingAverage (page 000).
    """

    def __init__(self, decay: float = 0.999, thres_steps: Variable | None = None, name: str | None = None) -> None:
        super().__init__(type(self).__name__)
        is_number = isinstance(thres_steps, Variable) and all(length == 1 for length in thres_steps.shape)
        if thres_steps is not None and not is_number:
            raise ArgumentError(
                f"{self._label}: thres_steps = {thres_steps!r}, must be None or a variable with one number"
            )
        self.name = checked_name(self._label, name)
        self._rule = ExponentialAverage(real(self._label, "decay", decay, "[0, 1)"))
        self._thres_steps = thres_steps

    def update(self) -> None:
        """Append an update of the averages to the default main program, behind what updates the parameters.

        Raises:
            UsageError: the program has no trainable parameters, or another program was averaged before.
        """
        with all_or_nothing():
            self._append_update(() if self._thres_steps is None else (self._thres_steps,))

    def state_dict(self) -> dict[str, Any]:
        """Copies of the averages and the product of the decays; empty before the first update. Not documented."""
        return {} if self._state is None else self._saved(self._state._asdict())

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned, with the same bits.

        Raises:
            StateError: it belongs to something else, or is not whole; nothing has changed.
        """
        self._state = Decayed(**self._loaded(state_dict, self._start()._asdict())) if state_dict != {} else None

    def _start(self) -> Decayed:
        return self._rule.start(self._zeros())

    def _updated(self, state: Any, parameters: Sequence[Array], *inputs: Any) -> Decayed:
        steps = np.asarray(inputs[0]).item() if inputs else None
        return self._rule.update(state or self._rule.start(parameters), parameters, steps)

    def _averages(self) -> list[Array]:
        return self._rule.averages(self._state)
