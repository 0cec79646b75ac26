"""Wrong arguments and calls of ExponentialMovingAverage and ModelAverage: named, and nothing is changed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from optimetry.reference.averaging.ema import ExponentialMovingAverage
from optimetry.reference.averaging.model_average import ModelAverage
from optimetry.reference.errors import (
    ArgumentError,
    HyperparameterError,
    OptimetryError,
    StateError,
    UsageError,
)
from optimetry.reference.programs import Executor, layers
from tests.reference.averaged import AVERAGES, Trained, trained
from tests.reference.random_programs import same_bits
from tests.reference.small import fresh, started

WRONG_ARGUMENTS: dict[str, tuple[Callable[[], Any], str]] = {
    "decay 1": (lambda: ExponentialMovingAverage(1.0), r"decay = 1.0, must be in \[0, 1\)"),
    "decay NaN": (lambda: ExponentialMovingAverage(float("nan")), "decay = nan"),
    "decay text": (lambda: ExponentialMovingAverage("0.9"), "decay = '0.9'"),  # type: ignore[arg-type]
    "rate": (lambda: ModelAverage(-0.1), r"average_window_rate = -0.1, must be in \[0, inf\)"),
    "minimum": (lambda: ModelAverage(0.1, 0), r"min_average_window = 0, must be an integer in \[1, inf\)"),
    "maximum": (lambda: ModelAverage(0.1, 1, 2.5), "max_average_window = 2.5"),  # type: ignore[arg-type]
    "min above max": (
        lambda: ModelAverage(0.1, 5, 4),
        "min_average_window = 5, must be at most max_average_window = 4",
    ),
}


@pytest.mark.parametrize(("make", "text"), WRONG_ARGUMENTS.values(), ids=WRONG_ARGUMENTS)
def test_wrong_arguments_are_named_and_change_nothing(make: Callable[[], Any], text: str) -> None:
    with fresh() as (main, startup):
        layers.create_parameter([2], "float32")
        before = list(main.operators), list(startup.operators)
        with pytest.raises(HyperparameterError, match=text):
            make()
        assert (main.operators, startup.operators) == before


def test_wrong_thres_steps_and_programs_without_parameters() -> None:
    with pytest.raises(ArgumentError, match="thres_steps = 3, must be None or a variable with one number"):
        ExponentialMovingAverage(0.9, 3)  # type: ignore[arg-type]
    with fresh():
        with pytest.raises(UsageError, match="no trainable parameters"):
            ExponentialMovingAverage().update()
        with pytest.raises(UsageError, match="no trainable parameters"):
            ModelAverage(0.1)


def test_a_value_of_thres_steps_that_counts_nothing_changes_nothing() -> None:
    with fresh():
        weights = layers.create_parameter([2], "float32")
        steps = layers.create_global_var([1], -5, "int64", persistable=True, name="steps")
        average = ExponentialMovingAverage(0.9, steps)
        average.update()
        executor = started()
        before = executor.scope.values[weights.name].tobytes()
        with pytest.raises(HyperparameterError, match=r"thres_steps = -5, must be in \[0, inf\)"):
            executor.run()
        assert average.state_dict() == {}
        assert executor.scope.values[weights.name].tobytes() == before


MISUSES: dict[str, tuple[int, Callable[[Trained], Any], type[OptimetryError], str]] = {
    "apply before update": (0, lambda s: s.average.apply(s.executor), UsageError, "before any update"),
    "restore without apply": (2, lambda s: s.average.restore(s.executor), UsageError, "without apply"),
    "no executor": (2, lambda s: s.average.apply("exe"), ArgumentError, "executor = 'exe', must be an Executor"),
    "need_restore": (2, lambda s: s.average.apply(s.executor, 1), ArgumentError, "need_restore = 1, must be"),
    "another executor": (
        2,
        lambda s: s.average.apply(Executor()).__enter__(),
        UsageError,
        "has no value in this executor",
    ),
    "foreign state": (2, lambda s: s.average.set_state_dict({"foreign": 1}), StateError, "the state dict"),
    "truncated state": (
        2,
        lambda s: s.average.set_state_dict(dict(list(s.average.state_dict().items())[:-1])),
        StateError,
        "the state dict lacks",
    ),
    "state of another shape": (
        2,
        lambda s: s.average.set_state_dict(
            {k: np.zeros(9, np.float32) if np.ndim(v) else v for k, v in s.average.state_dict().items()}
        ),
        StateError,
        r"has shape \(9,\)",
    ),
}


@pytest.mark.parametrize("kind", AVERAGES)
@pytest.mark.parametrize(("steps", "misuse", "error", "text"), MISUSES.values(), ids=MISUSES)
def test_misuse_is_named_and_changes_nothing(
    kind: str, steps: int, misuse: Callable[[Trained], Any], error: type[OptimetryError], text: str
) -> None:
    subject = trained(AVERAGES[kind], steps)
    before, state = subject.parameters, subject.state()
    with pytest.raises(error, match=text):
        misuse(subject)
    assert same_bits(subject.parameters, before)
    assert same_bits(subject.state(), state)
