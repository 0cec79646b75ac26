"""Faulty optimizers that a trial found accepted: each is rejected by a large case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.cases.large import SHORT, Scale, large_plans
from optimetry.conformance.cases.options import all_on
from optimetry.conformance.judging.departing import _left_out
from optimetry.conformance.judging.scale import contradiction
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.known.points import PointClass, documented_class, named_classes
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun, run_of
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import State
from tests.conformance.judged import label

LONG = Scale(SHORT, steps=300)
SCALES = EFFORTS["quick"].scales


def fails(target: Target, optimizer: str) -> bool:
    """Whether a long run shows that a target does not compute the document."""
    assert LONG in EFFORTS["quick"].scales
    plans = list(large_plans(SUBJECTS[optimizer], "float32", [LONG], 0))
    explanation = Explanation(documented_class(optimizer))
    assert contradiction(NumpyTarget(), plans[1:], explanation, Guard()) is None
    assert contradiction(target, plans[:1], explanation, Guard()) is None
    return contradiction(target, plans[1:], explanation, Guard()) is not None


@pytest.mark.parametrize(
    ("optimizer", "condition", "count"),
    [
        ("torch.adagrad", lambda rule: True, lambda count: count % 256),
        ("torch.adam", lambda rule: rule.amsgrad, lambda count: min(count, 127)),
        ("torch.nadam", lambda rule: rule.decoupled_weight_decay, lambda count: min(count, 127)),
    ],
)
def test_a_count_that_options_need_has_more_than_a_byte(
    optimizer: str, condition: Callable[[Any], bool], count: Callable[[int], int]
) -> None:
    class Counting(RuleRun):
        def step(self, grads: Any, learning_rate: float) -> Any:
            true = list(self.training.updates)
            if condition(self.training.rule):
                self.training.updates = [count(updates + 1) - 1 for updates in true]
            after = super().step(grads, learning_rate)
            self.training.updates = [updates + 1 for updates in true]
            return after

    begin: Any = Counting
    assert fails(Instead(begin, optimizer), optimizer)


@pytest.mark.parametrize(
    ("optimizer", "slot"),
    [("torch.adam", "max_exp_avg_sq"), ("torch.adamw", "max_exp_avg_sq"), ("torch.rmsprop", "grad_avg")],
)
def test_a_slot_that_options_need_is_kept(optimizer: str, slot: str) -> None:
    class Clearing(RuleRun):
        def step(self, grads: Any, learning_rate: float) -> Any:
            after = super().step(grads, learning_rate)
            for i, (state, updates) in enumerate(zip(self.training.states, self.training.updates, strict=True)):
                kept = {name: state[name] for name in self.training.rule.slots}
                if updates % 128 == 0:
                    self.training.states[i] = State(**{**kept, slot: 0 * state[slot]})
            return after

    begin: Any = Clearing
    assert fails(Instead(begin, optimizer), optimizer)


def test_a_schedule_is_counted_in_more_than_a_byte_and_so_is_one_that_is_saved() -> None:
    class Short(ExponentialMovingAverage):
        def feed(self, fed: Any, parameters: Any, state: Any) -> Any:
            result, (updates, held) = super().feed(fed, parameters, state)
            return result, (updates % 256, held)

    def begin(average: Declared, parameters: Any) -> Any:
        return run_of(Short(**average.hyper()), parameters)

    def saving(average: Declared, parameters: Any) -> Any:
        run: Any = run_of(average, parameters)
        load = run.load

        def loaded(state: Any) -> None:
            load(state)
            updates, held = run._state
            run._state = min(updates, 60), held

        run.load = loaded
        return run

    for start in (begin, saving):
        assert fails(Instead(start, "exponential_moving_average"), "exponential_moving_average")


def test_all_options_are_on_that_do_not_exclude_each_other() -> None:
    assert all_on(SUBJECTS["adam"]) is None
    assert all_on(SUBJECTS["torch.sgd"]) == {
        "momentum": 0.9,
        "dampening": 0.5,
        "weight_decay": 0.01,
        "nesterov": True,
        "maximize": True,
    }
    assert all_on(SUBJECTS["exponential_moving_average"]) == {"decay": 0.999, "scheduled": True}
    assert all(all_on(SUBJECTS[name]) for name in ("torch.adagrad", "torch.adam", "rmsprop"))


class ZerosIfLarge(RuleRun):
    def step(self, grads: Any, learning_rate: float) -> Any:
        pairs = zip(grads, self.training.parameters, strict=True)
        filled = [np.zeros_like(param) if grad is None and param.size > 4096 else grad for grad, param in pairs]
        return super().step(filled, learning_rate)


class StaleIfLarge(RuleRun):
    """Takes the second moment anew in every tenth step alone, behind the third."""

    def step(self, grads: Any, learning_rate: float) -> Any:
        before, after = list(self.training.states), super().step(grads, learning_rate)
        for i, (updates, grad) in enumerate(zip(self.training.updates, grads, strict=True)):
            if grad is not None and grad.size > 1000 and updates > 3 and updates % 10:
                kept = {name: self.training.states[i][name] for name in self.training.rule.slots}
                self.training.states[i] = State(**{**kept, SECOND: before[i][SECOND]})
        return after


SECOND = "moment2"


@pytest.mark.parametrize("run", [ZerosIfLarge, StaleIfLarge])
def test_a_big_tensor_has_a_gap_and_some_steps(run: Any) -> None:
    *others, gapped = large_plans(SUBJECTS["adam"], "float32", EFFORTS["quick"].scales, 0)
    explanation = Explanation(documented_class("adam"))
    assert contradiction(NumpyTarget(), [gapped], explanation, Guard()) is None
    assert contradiction(Instead(run, "adam"), [gapped], explanation, Guard()) is not None
    assert contradiction(Instead(run, "adam"), others, explanation, Guard()) is None


@pytest.mark.parametrize(
    ("off", "which"),
    [(range(2, 6), "elements 2 to 5"), ([2], "element 2"), ([2, 5], "2 of the elements compared"), (range(8), None)],
)
def test_elements_are_named_by_the_first_and_the_last_where_all_between_are_left_out(
    off: Iterable[int], which: str | None
) -> None:
    """Of two tensors of eight elements; all of one are a tensor that is left out."""
    tensors = (np.ones(8, np.float32), np.ones(8, np.float32))
    columns = np.arange(16)
    kept = np.isin(columns, [*off])
    left_out = _left_out(Case("sgd", "float32", {}, (0.1,), tensors, (tensors,)), columns, kept, kept)
    assert left_out["which"] == (which or "tensor 0")


OF_DIMENSIONS = [(name, each) for name in DIALECTS for each in named_classes(name) if "vectors" in each.points[0]]


@pytest.mark.parametrize(("optimizer", "dialect"), OF_DIMENSIONS, ids=label)
def test_a_rule_that_asks_for_dimensions_is_explained_in_large_cases_too(optimizer: str, dialect: PointClass) -> None:
    """What is compared of a matrix is no vector: LARS of MAE, which does not scale vectors, was said to diverge."""
    target, plans = computing(dialect.dialect), list(large_plans(SUBJECTS[optimizer], "float32", SCALES, 0))
    assert contradiction(target, plans, Explanation(dialect), Guard()) is None
