"""Faulty optimizers that a trial found accepted: each is rejected by a case that no seed draws."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.rare import (
    GAPS,
    LARGE_NUMBER,
    LARGEST_RATE,
    WHOLE_SIZES,
    rare_cases,
    untried_ends,
)
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.reference.rules import RULES
from tests.conformance.judged import with_hooks
from tests.conformance.judging.test_rare import contradicts, refuted


def refuted_by(optimizer: str, **hooks: Any) -> list[Case]:
    """The rare cases that contradict a rule whose runs do something else."""
    target = with_hooks(optimizer, **hooks)
    return [case for case in rare_cases(subject_named(optimizer), "float32") if contradicts(target, case)]


@pytest.mark.parametrize("optimizer", ["papers.lion", "torch.adamw", "torch.muon", "torch.adafactor"])
def test_a_decay_may_turn_the_sign(optimizer: str) -> None:
    class Clamped:
        def __init__(self, rule: Any, parameters: Any) -> None:
            self.rule, self.run, self.decayed = rule, run_of(rule, parameters), False

        def step(self, grads: list[Any], rate: float) -> Any:
            if rate * self.rule.weight_decay > 1:
                training = self.run.training
                training.rule = dataclasses.replace(self.rule, weight_decay=0.0)
                training.parameters = [0 * param for param in training.parameters]
            return self.run.step(grads, rate)

    cases = rare_cases(SUBJECTS[optimizer], "float32")
    begin: Any = Clamped
    contradicting = [case for case in cases if contradicts(Instead(begin, optimizer), case)]
    assert contradicting
    assert all(rate * case.hyper["weight_decay"] > 1 for case in contradicting for rate in case.learning_rates)


@pytest.mark.parametrize(
    ("optimizer", "name"), [("torch.sgd", "weight_decay"), ("torch.asgd", "lambd"), ("lamb", "epsilon")]
)
def test_a_number_without_an_upper_end_is_not_capped(optimizer: str, name: str) -> None:
    contradicting = refuted(optimizer, lambda hyper: {**hyper, name: min(hyper[name], 1.0)})
    assert [case.hyper[name] for case in contradicting] == [LARGE_NUMBER]


@pytest.mark.parametrize("optimizer", [name for name in RULES if name != "ftrl"])
def test_a_learning_rate_is_not_capped(optimizer: str) -> None:
    contradicting = refuted_by(optimizer, rate=lambda rates: min(rates[-1], 10.0))
    assert [case.learning_rates[0] for case in contradicting] == [LARGEST_RATE]


@pytest.mark.parametrize("optimizer", ["torch.adadelta", "papers.adadelta"])
def test_the_end_of_a_domain_is_in_it(optimizer: str) -> None:
    assert untried_ends(SUBJECTS[optimizer]) == {"rho": 1.0}
    contradicting = refuted(optimizer, lambda hyper: {**hyper, "rho": hyper["rho"] if hyper["rho"] < 1 else 0.9})
    assert [case.hyper["rho"] for case in contradicting] == [1.0]


def test_few_domains_have_an_end_that_is_never_drawn() -> None:
    assert [name for name in SUBJECTS if untried_ends(SUBJECTS[name])] == [
        "papers.adadelta",
        "papers.adan",
        "torch.adadelta",
    ]


@pytest.mark.parametrize("most", [65504, 2048])
@pytest.mark.parametrize("optimizer", ["torch.adam", "papers.lion", "lamb", "sgd", "ftrl"])
def test_a_parameter_may_be_large(optimizer: str, most: int) -> None:
    contradicting = refuted_by(optimizer, parameter=lambda before, after: np.clip(after, -most, most))
    assert any(float(np.abs(case.parameters[0]).max()) > 65504 for case in contradicting)


@pytest.mark.parametrize("optimizer", RULES)
def test_an_equal_gradient_is_another(optimizer: str) -> None:
    class Once:
        def __init__(self, rule: Any, parameters: Any) -> None:
            self.run, self.last = run_of(rule, parameters), [b""] * len(parameters)

        def step(self, grads: list[Any], rate: float) -> Any:
            new = [b"" if grad is None else grad.tobytes() for grad in grads]
            used = [None if now == last else grad for grad, now, last in zip(grads, new, self.last, strict=True)]
            self.last = new
            return self.run.step(used, rate)

    cases = rare_cases(SUBJECTS[optimizer], "float32")
    begin: Any = Once
    (case,) = (case for case in cases if contradicts(Instead(begin, optimizer), case))
    assert len({row[0].tobytes() for row in case.grads if row[0] is not None}) == 1


class Gaps:
    """The reference, with a look at how many steps there was no gradient."""

    def __init__(self, rule: Any, parameters: Any) -> None:
        self.rule, self.run, self.idle, self.steps, self.gap = rule, run_of(rule, parameters), 0, 0, 0

    def step(self, grads: list[Any], rate: float) -> Any:
        (grad,), training = grads, self.run.training  # type: ignore[union-attr]
        self.ended(training, self.idle if grad is not None else 0)
        self.idle, self.steps = self.idle + 1 if grad is None else 0, self.steps + 1
        return self.run.step(grads, rate)  # type: ignore[union-attr]


class Evicting(Gaps):
    def ended(self, training: Any, idle: int) -> None:
        if idle > 32:
            training.states = [self.rule.initial_state(param) for param in training.parameters]


class LastGap(Gaps):
    def ended(self, training: Any, idle: int) -> None:
        self.gap = idle or self.gap
        training.updates = [max(self.steps - self.gap, 0)]


@pytest.mark.parametrize(
    ("optimizer", "kind"),
    [
        ("rmsprop", Evicting),
        ("torch.sgd", Evicting),
        ("papers.radam", Evicting),
        ("lamb", Evicting),
        ("torch.adafactor", Evicting),
        ("adam", LastGap),
    ],
)
def test_what_has_no_gradient_is_kept(optimizer: str, kind: Any) -> None:
    cases = [case for case in rare_cases(SUBJECTS[optimizer], "float32") if len(case.parameters) == 1]
    (case,) = (case for case in cases if contradicts(Instead(kind, optimizer), case))
    assert [row[0] is not None for row in case.grads] == list(GAPS)


@pytest.mark.parametrize("size", WHOLE_SIZES)
@pytest.mark.parametrize("optimizer", ["momentum", "lamb"])
def test_a_fault_at_the_last_element_of_whole_vectors_shows(optimizer: str, size: int) -> None:
    def parameter(before: Any, after: Any) -> Any:
        kept = after.copy()
        if after.size == size:
            kept.flat[-1] = before.flat[-1]
        return kept

    (case,) = refuted_by(optimizer, parameter=parameter)
    assert [param.size for param in case.parameters] == list(WHOLE_SIZES)


def test_nor_is_it_left_out_by_a_wrapper() -> None:
    class Skipping:
        def __init__(self, decay: Any, parameters: Any) -> None:
            self.run = run_of(decay, parameters)

        def transform(self, grads: list[Any]) -> list[Any]:
            results = self.run.transform(grads)  # type: ignore[union-attr]
            for grad, result in zip(grads, results, strict=True):
                if result.size and result.size % 16 == 0:
                    result.flat[-1] = grad.flat[-1]
            return results

    begin: Any = Skipping
    cases = rare_cases(SUBJECTS["l2_decay"], "float32")
    assert any(contradicts(Instead(begin, "l2_decay"), case) for case in cases)
