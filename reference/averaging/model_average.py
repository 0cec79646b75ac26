"""The documented class ModelAverage."""

from __future__ import annotations

from typing import Any

from optimetry.reference.averaging.applied import Applied
from optimetry.reference.averaging.window import WindowAverage
from optimetry.reference.domains import real, whole
from optimetry.reference.errors import HyperparameterError
from optimetry.reference.optimizer import Optimizer
from optimetry.reference.programs.program import all_or_nothing
from optimetry.reference.regularizers import WeightDecayRegularizer
from optimetry.reference.rule import Array, Rule, State


class Idle(Rule):
    """Leaves every parameter alone, whatever its gradient: no zero rate, which makes NaN of an infinite one."""

    name = "model_average"

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """The same parameter and state."""
        return param, state


class ModelAverage(Applied, Optimizer):
    """Averages of the trainable parameters over a sliding window; the numbers are `WindowAverage`'s.

    The update of the averages is appended to the default main program on construction. The page documents it as an
    optimizer: the methods of `Optimizer` leave the parameters alone.

    Args:
        average_window_rate: the window's length as a share of all updates, in [0, inf).
        min_average_window: the least number of updates in a window.
        max_average_window: no window need be longer than this many updates.
        regularization: accepted as documented; it changes nothing.
        name: see `Optimizer`.

    Raises:
        HyperparameterError: an argument is outside its interval, or the minimum is above the maximum.
        UsageError: the program has no trainable parameters.

    Documented: fluid.optimizer.ModelAverage (page 000).
    """

    def __init__(
        self,
        average_window_rate: float,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        regularization: WeightDecayRegularizer | None = None,
        name: str | None = None,
    ) -> None:
        Applied.__init__(self, type(self).__name__)
        Optimizer.__init__(self, 0.0, None, regularization, None, name, rule=Idle())
        rate = real(self._label, "average_window_rate", average_window_rate, "[0, inf)")
        minimum = whole(self._label, "min_average_window", min_average_window, "[1, inf)")
        maximum = whole(self._label, "max_average_window", max_average_window, "[1, inf)")
        if minimum > maximum:
            raise HyperparameterError(
                f"{self._label}: min_average_window = {minimum}, must be at most max_average_window = {maximum}"
            )
        self._rule = WindowAverage(rate, minimum, maximum)
        with all_or_nothing():
            self._append_update()

    set_dict = Applied.set_state_dict
