"""Faulty optimizers that a trial found accepted: each is rejected by a law."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.laws import LAWS
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage, ModelAverage
from optimetry.conformance.subjects.wrappers.compression import DGCCompress
from optimetry.conformance.targets.numpy.batches import unscaled
from optimetry.conformance.targets.numpy.target import NumpyTarget, ScalingRun, run_of
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.averaging.window import FOLD, WindowAverage
from tests.conformance.judged import with_hooks


def cases_of(optimizer: str, dtype: str = "float32") -> list[Case]:
    """The cases on which laws are tried at the least effort."""
    return list(drawn_cases(SUBJECTS[optimizer], dtype, seed=0, count=3))


def contradiction(law: str, target: Target, cases: Iterable[Case]) -> str | None:
    """What first contradicts a law."""
    found = (LAWS[law].broken(Trial(target, case, Guard())) for case in cases)
    return next((text for text in found if text is not None), None)


Window = Callable[[Any, Any, Any], Any]


@pytest.mark.parametrize(
    "close",
    [
        lambda before, after, kept: after._replace(previous=[x - y for x, y in zip(after.previous, kept, strict=True)]),
        lambda before, after, kept: after._replace(folded=kept),
    ],
    ids=["forgets", "keeps"],
)
def test_a_window_that_is_closed_behind_a_fold_has_all_of_its_sum(close: Window) -> None:
    class Closing(WindowAverage):
        def update(self, state: Any, parameters: Any) -> Any:
            after = super().update(state, parameters)
            return close(state, after, state.folded) if after.updates > FOLD and after.in_window == 0 else after

    assert ", after 32788 updates" in str(broken_fold(Closing))


def test_a_second_fold_is_added_to_the_first() -> None:
    class Overwriting(WindowAverage):
        def update(self, state: Any, parameters: Any) -> Any:
            after = super().update(state, parameters)
            kept = [x - y for x, y in zip(after.folded, state.folded, strict=True)]
            return after._replace(folded=kept) if after.updates % FOLD == 0 else after

    assert ", after 32788 updates" in str(broken_fold(Overwriting))


def broken_fold(kind: type[WindowAverage]) -> str | None:
    class Averaging(ModelAverage):
        @property
        def average(self) -> WindowAverage:
            return kind(self.average_window_rate, self.min_average_window, self.max_average_window)

    def begin(rule: Any, parameters: Any) -> Any:
        return run_of(Averaging(**rule.hyper()), parameters)

    cases = cases_of("model_average")[:1]
    assert contradiction("fold", NumpyTarget(), cases) is None
    return contradiction("fold", Instead(begin, "model_average"), cases)


def finite(grad: Any) -> Any:
    """Take what is not finite for 0."""
    return np.nan_to_num(grad, nan=0, posinf=0, neginf=0)


NORMS = [name for name, subject in SUBJECTS.items() if LAWS["norms_of_any_shape"].applies(subject) or subject.shaped]


@pytest.mark.parametrize("optimizer", [*NORMS, "sgd"])
def test_no_rule_hides_a_gradient_that_is_not_finite(optimizer: str) -> None:
    target = with_hooks(optimizer, gradient=finite)
    assert "must be nan, at step" in str(contradiction("nonfinite_gradients_act", target, cases_of(optimizer)))


@pytest.mark.parametrize("optimizer", ["lars_momentum", "lamb", "sgd", "torch.adam"])
def test_nor_in_large_parameters_alone(optimizer: str) -> None:
    target = with_hooks(optimizer, gradient=lambda grad: finite(grad) if grad.size > 1000 else grad)
    found = contradiction("nonfinite_gradients_act", target, cases_of(optimizer))
    assert "must be nan, at step 2, element 2049" in str(found)


def test_an_average_does_not_either() -> None:
    class Hiding(ExponentialMovingAverage):
        def feed(self, fed: Any, parameters: Any, state: Any) -> Any:
            return super().feed([finite(x) if x.size > 1000 else x for x in fed], parameters, state)

    target = Instead(lambda rule, parameters: run_of(Hiding(**rule.hyper()), parameters), "exponential_moving_average")
    assert contradiction("nonfinite_gradients_act", target, cases_of("exponential_moving_average"))


class Holds(ScalingRun):
    """The reference, to be changed."""

    def __init__(self, rule: Any, parameters: Any) -> None:
        super().__init__(rule, parameters)
        self.kept: Any = None


class SavesTheFirst(Holds):
    def state(self) -> Any:
        self.kept = self.kept or super().state()
        return self.kept


class LoadsLate(Holds):
    def load(self, state: Any) -> None:
        self.kept = state

    def step(self, grads: Any, learning_rate: float) -> Any:
        if self.kept is not None:
            super().load(self.kept)
            self.kept = None
        return super().step(grads, learning_rate)


class ChecksTheLast(Holds):
    """Takes a step unless some gradients are not finite: here those of the last parameter."""

    def looked_at(self, grads: Any) -> Any:
        return grads[-1:]

    def step_scaled(self, grads: Any, learning_rate: float, scale: float) -> Any:
        if all(grad is None or np.isfinite(grad).all() for grad in self.looked_at(grads)):
            return self.step(unscaled(grads, scale), learning_rate)
        return [np.array(param) for param in self.training.parameters]


class ChecksSome(ChecksTheLast):
    def looked_at(self, grads: Any) -> Any:
        return [None if grad is None else grad.reshape(-1)[:1000] for grad in grads]


class ScalesByOne(Holds):
    def step_scaled(self, grads: Any, learning_rate: float, scale: float) -> Any:
        return super().step_scaled(grads, learning_rate, max(scale, 1.0))


@pytest.mark.parametrize(
    ("law", "run", "text"),
    [
        ("resuming", SavesTheFirst, "a second time and some steps later"),
        ("resuming", LoadsLate, "saved and loaded once more, "),
        ("scaled_gradients", ChecksTheLast, " first"),
        ("scaled_gradients", ChecksSome, "of 4099 gradients with one nan"),
        ("scaled_gradients", ScalesByOne, "under a scale of 0.25"),
    ],
)
@pytest.mark.parametrize("optimizer", ["adam", "torch.adamw"])
def test_runs_that_are_saved_or_scaled(law: str, run: Any, text: str, optimizer: str) -> None:
    assert contradiction(law, NumpyTarget(), cases_of(optimizer)) is None
    assert text in str(contradiction(law, Instead(run, optimizer), cases_of(optimizer)))


def test_a_tenth_of_thirty_entries_is_three() -> None:
    class Short(DGCCompress):
        def feed(self, fed: Any, parameters: Any, state: Any) -> Any:
            results, after = super().feed(fed, parameters, state)
            few = [max(1, int(x.size * (1 - self.sparsity))) for x in results if x.size]
            for x, number in zip((x for x in results if x.size), few, strict=True):
                x.flat[np.argsort(-np.abs(x.reshape(-1)), kind="stable")[number:]] = 0
            return results, after

    target = Instead(lambda rule, parameters: run_of(Short(**rule.hyper()), parameters), "dgc_compress")
    assert contradiction("largest_are_sent", NumpyTarget(), cases_of("dgc_compress")) is None
    assert contradiction("largest_are_sent", target, cases_of("dgc_compress"))
