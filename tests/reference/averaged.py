"""Programs that train and average, for the tests of averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference import SGD
from optimetry.reference.averaging.ema import ExponentialMovingAverage
from optimetry.reference.averaging.model_average import ModelAverage
from optimetry.reference.programs import Executor, Program, layers
from tests.reference.small import fresh


@dataclass
class Trained:
    """A program that trains and averages."""

    program: Program
    startup: Program
    executor: Executor
    average: Any

    @property
    def parameters(self) -> dict[str, Any]:
        values = self.executor.scope.values
        return {parameter.name: np.array(values[parameter.name]) for parameter in self.program.all_parameters()}

    def run(self, step: int) -> None:
        feed = {"x": np.random.default_rng(step).standard_normal((4, 3)).astype("float32")}
        self.executor.run(self.program, feed)

    def state(self) -> dict[str, Any]:
        return {key: np.asarray(value) for key, value in self.average.state_dict().items()}


def moving(decay: float = 0.9, scheduled: bool = False, of: Any = ExponentialMovingAverage) -> Any:
    average = of(decay, layers.decay_step_counter() if scheduled else None)
    average.update()
    return average


AVERAGES: dict[str, Callable[[], Any]] = {
    "exponential": moving,
    "scheduled": lambda: moving(scheduled=True),
    "windows": lambda: ModelAverage(0.5, 2, 4),
}


def trained(make: Callable[[], Any], steps: int) -> Trained:
    with fresh() as (main, startup):
        loss = layers.mean(layers.fc(layers.data("x", [None, 3]), 2, act="tanh"))
        SGD(0.5).minimize(loss)
        average = make()
    executor = Executor()
    executor.run(startup)
    result = Trained(main, startup, executor, average)
    for step in range(steps):
        result.run(step)
    return result
