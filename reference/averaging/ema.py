"""The documented class ExponentialMovingAverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.reference.arguments import checked_name
from optimetry.reference.averaging.applied import Applied
from optimetry.reference.averaging.exponential import ExponentialAverage
from optimetry.reference.domains import real
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs.executor import Scope
from optimetry.reference.programs.program import Variable, all_or_nothing


class ExponentialMovingAverage(Applied):
    """Exponential moving averages of the trainable parameters of a program; the numbers are `ExponentialAverage`'s.

    Args:
        decay: the decay, in [0, 1).
        thres_steps: a variable with one number, such as the global step; where given, the decay is scheduled by it.
            A program whose value of it is not in [0, inf) raises `HyperparameterError` when it runs.
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

    def _run_update(self, count: int) -> Callable[..., Any]:
        run = super()._run_update(count)

        def checked(scope: Scope, state: Any, *values: Any) -> Any:
            for steps in values[count:]:
                real(self._label, "thres_steps", np.asarray(steps).item(), "[0, inf)")
            return run(scope, state, *values)

        return checked

    def update(self) -> None:
        """Append an update of the averages to the default main program, behind the updates of the parameters.

        Raises:
            UsageError: the program has no trainable parameters, or another program was averaged before.
        """
        with all_or_nothing():
            self._append_update(() if self._thres_steps is None else (self._thres_steps,))
