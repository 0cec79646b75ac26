"""Targets that return an average of their parameters, which a wrapper has not swapped back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.rule import Rule

RETURNS = "diverges: documented, but returns {}, not its parameters"


class _Averaged(RuleRun):
    """Keeps an average beside each parameter, and returns it.

    ``average`` makes it of the average before, of the parameter and of the number of steps.
    """

    def __init__(self, rule: Rule, parameters: list[Any], average: Callable[[Array, Array, int], Array]) -> None:
        super().__init__(rule, parameters)
        self.averages, self.average, self.steps = [np.array(param) for param in parameters], average, 0

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step, and average."""
        self.steps += 1
        pairs = zip(self.averages, super().step(grads, learning_rate), strict=True)
        with np.errstate(all="ignore"):
            self.averages = [np.asarray(self.average(*pair, self.steps), pair[0].dtype) for pair in pairs]
        return [array.copy() for array in self.averages]


def _averaging(average: Callable[[Array, Array, int], Array]) -> Start:
    def start(rule: Rule, parameters: list[Any], memory: Memory) -> _Averaged:
        return _Averaged(rule, parameters, average)

    return start


enter(
    Fault(
        name="average_returned",
        optimizer="adam",
        defect="a moving average by 0.99 of the parameters takes their place, as after a swap that nobody undoes",
        start=_averaging(lambda average, param, t: average * 0.99 + param * 0.01),
        outcome=RETURNS.format("a moving average of its parameters by 0.99, from the first parameters"),
    ),
    Fault(
        name="average_begun_late",
        optimizer="momentum",
        defect="the same by 0.9, which begins with a copy of the parameters behind the first step",
        start=_averaging(lambda average, param, t: param if t == 1 else average * 0.9 + param * 0.1),
        outcome=RETURNS.format("a moving average of its parameters by 0.9, from those behind the first step"),
    ),
    Fault(
        name="average_limited_by_updates",
        optimizer="rmsprop",
        defect="a moving average by 0.999, at first by less, as the number of updates limits it",
        start=_averaging(lambda average, param, t: average - (9 / (10 + t)) * (average - param)),
        outcome=RETURNS.format("a moving average of its parameters by (1 + t)/(10 + t), from the first parameters"),
    ),
    Fault(
        name="mean_returned",
        optimizer="sgd",
        defect="the mean of all parameters so far, as of averaged descent",
        start=_averaging(lambda average, param, t: average + (param - average) / t),
        outcome=RETURNS.format("the mean of its parameters behind all steps"),
    ),
)
