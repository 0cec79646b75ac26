"""Where a target that nothing explains computes a known rule: where a property holds, or in the first steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.known_cases import known_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.selftest.faults.hooks import HookedRun, Hooks
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reference.rule import Rule, State
from optimetry.reports.sentence import sentence
from tests.conformance.judged import QUICK, verdict_of

Array = Any
Change = Callable[[Array, Rule, State, State], Array]


class ChangedRun(RuleRun):
    """A run whose parameters are changed behind each update, by the rule and the states before and after it."""

    def __init__(self, rule: Any, parameters: list[Array], change: Change) -> None:
        super().__init__(rule, parameters)
        self.rule, self.change = rule, change

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        before = [State(**state) for state in self.training.states]
        super().step(grads, learning_rate)
        training = self.training
        for i, grad in enumerate(grads):
            if grad is not None:
                training.parameters[i] = self.change(training.parameters[i], self.rule, before[i], training.states[i])
        return [np.array(param) for param in training.parameters]


def changed(optimizer: str, change: Change) -> Instead:
    """A target that changes what a rule gives."""
    return Instead(lambda rule, parameters: ChangedRun(rule, parameters, change), optimizer)


def drifting_with_nesterov(param: Array, rule: Any, before: State, after: State) -> Array:
    with np.errstate(invalid="ignore"):
        return param + param.dtype.type(0.01) * before.velocity if rule.use_nesterov else param


def drifting_with_momentum(param: Array, rule: Any, before: State, after: State) -> Array:
    return param + param.dtype.type(rule.momentum) * np.tanh(after.velocity)


@pytest.mark.parametrize(
    ("change", "conditions"),
    [
        (drifting_with_nesterov, ["use_nesterov is true", "use_nesterov is false"]),
        (drifting_with_momentum, ["momentum is not 0", "momentum is 0"]),
    ],
)
def test_a_property_with_which_the_document_holds_is_told(change: Change, conditions: list[str]) -> None:
    verdict = verdict_of(changed("momentum", change), "momentum", effort=QUICK)
    elsewhere, there = conditions
    words = [f"no known rule where {elsewhere}", f"documented where {there}"]
    assert (verdict.verdict, list(map(str, verdict.computes.parts))) == ("diverges", words), verdict.reason
    assert "no known rule explains it: " in verdict.reason
    assert verdict.reason.endswith(f"; computes the documented rule where {there}")
    assert "computes no known rule" in sentence("mine", [verdict], wrappers=())


def doubling_the_count(most: int) -> Instead:
    """Adam whose corrections are those of twice the step behind so many steps."""
    hooks = Hooks(count=lambda count: count if count <= most else 2 * count)
    return Instead(lambda rule, parameters: HookedRun(rule, parameters, hooks), "adam")


@pytest.mark.parametrize("most", [1, 10])
def test_steps_that_are_as_documented_are_told(most: int) -> None:
    """Cases on which properties are tried may be too short to show that steps differ, so that all of them hold."""
    verdict = verdict_of(doubling_the_count(most), "adam", effort=QUICK)
    words = [f"no known rule where step >= {most + 1}", f"documented where step < {most + 1}"]
    assert (verdict.verdict, list(map(str, verdict.computes.parts))) == ("diverges", words)


def drifting(param: Array, rule: Any, before: State, after: State) -> Array:
    return param + np.tanh(param)


def test_nothing_is_told_where_no_case_is_as_documented() -> None:
    verdict = verdict_of(changed("momentum", drifting), "momentum", effort=QUICK)
    assert (verdict.verdict, verdict.computes.parts) == ("diverges", [])


def test_nothing_is_told_of_a_target_that_breaks_the_protocol_in_some_case(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = list(drawn_cases(subject_named("adam"), "float32", seed=0, count=8))
    observed = Observed.of(doubling_the_count(1), "adam", "float32", partial(iter, cases), Guard())
    run, longest = Observed.run, max(len(case.grads) for case in cases)

    def run_or_fail(self: Observed, case: Case) -> Array:
        if len(case.grads) == longest:
            raise TargetFault("raised ValueError: never so many")
        return run(self, case)

    assert [str(part) for part in known_cases(observed)][1:] == ["documented where step < 2"]
    monkeypatch.setattr(Observed, "run", run_or_fail)
    assert known_cases(observed) == []


def mostly_undetermined(case: Case) -> Case:
    """The same case, in whose first gradients all elements but one are NaN, from which nothing follows."""
    first = [None if grad is None else np.full_like(grad, np.nan) for grad in case.grads[0]]
    for poisoned, grad in zip(first, case.grads[0], strict=True):
        if poisoned is not None and poisoned.size:
            poisoned.flat[0] = grad.flat[0]
    return replace(case, grads=(first, *case.grads[1:]))


@pytest.mark.parametrize(
    ("fed", "told"), [(lambda case: case, ["documented where step < 2"]), (mostly_undetermined, [])]
)
def test_steps_of_which_the_document_says_little_are_not_told(fed: Callable[[Case], Case], told: list[str]) -> None:
    cases = [fed(case) for case in drawn_cases(subject_named("adam"), "float32", seed=0, count=8)]
    observed = Observed.of(doubling_the_count(1), "adam", "float32", partial(iter, cases), Guard())
    assert [str(part) for part in known_cases(observed)][1:] == told
