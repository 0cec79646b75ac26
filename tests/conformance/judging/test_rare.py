"""Cases that are never drawn are tried, and what a target takes for a number of 0 is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import EPSILON_NAMES, drawn_cases
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs import zeros
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.rare import (
    CLOSER,
    COUNT,
    LARGE_RATE,
    LARGEST_RATE,
    POWERS,
    SMALL_RATE,
    WHOLE_SIZES,
    may_be_zero,
    rare_cases,
    untried_ends,
)
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, run_of
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rules import RULES


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("optimizer", RULES)
def test_every_rule_is_tried_with_numbers_that_are_never_drawn(optimizer: str, dtype: str) -> None:
    subject = SUBJECTS[optimizer]
    rates, still, large, from_zero, *others = rare_cases(subject, dtype)
    assert rates.learning_rates[1::2] == (0.0, 0.0)
    assert all(rates.learning_rates[0::2])
    assert set(still.learning_rates) == {0.0}
    assert set(large.learning_rates) == set(from_zero.learning_rates) == {LARGE_RATE}
    assert not any(param.any() for param in (*still.parameters, *from_zero.parameters))
    zero = {number.name for number in may_be_zero(subject)}
    assert zero >= {x.name for x in subject.hyperparameters() if x.name in EPSILON_NAMES and 0.0 in x.domain}  # type: ignore[operator]
    assert {name for case in others for name in zero if case.hyper[name] == 0} == zero
    assert [case.learning_rates[0] for case in others].count(SMALL_RATE) == 1
    counts = {x.name for x in subject.hyperparameters() if x.kind is int}
    assert {name for case in others for name in counts if case.hyper[name] == COUNT} == counts
    ends = len(untried_ends(subject))
    largest, far, *_, repeated, sized, gaps = others[-(5 + ends) :]
    assert set(largest.learning_rates) == {LARGEST_RATE}
    assert max(float(np.abs(param).max()) for param in far.parameters) > float(np.finfo(np.float16).max)
    assert len({grads[0].tobytes() for grads in repeated.grads if grads[0] is not None}) == 1
    assert len(sized.parameters) == len(WHOLE_SIZES)
    assert [row[0] is None for row in gaps.grads].count(True) == 41
    powers = others[: -(5 + ends)][-len(POWERS[dtype]) :]
    sizes = [max(float(np.abs(grads[0]).max()) for grads in case.grads if grads[0] is not None) for case in powers]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1e20
    assert sizes[-1] < 1e-30


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_the_reference_computes_them(optimizer: str) -> None:
    judged = 0
    for case in rare_cases(subject_named(optimizer), "float32"):
        agreement = compare(trajectory(NumpyTarget(), case, Guard()), expected(case), case.form)
        assert agreement.share <= 1
        judged += agreement.vacuous < agreement.elements
    assert judged >= len(rare_cases(subject_named(optimizer), "float32")) // 4


def test_no_drawn_case_has_their_numbers() -> None:
    drawn = list(drawn_cases(SUBJECTS["rmsprop"], "float32", seed=0, count=400))
    assert all(case.hyper["rho"] and max(case.learning_rates) <= 1 for case in drawn)


def test_a_document_says_what_an_epsilon_of_0_gives() -> None:
    for case in rare_cases(SUBJECTS["adam"], "float32"):
        assert case.hyper["epsilon"] or expected(case).known[:, 1:].all()  # of 0/0 it says nothing


def test_wrappers_have_numbers_of_0_and_tiny_parameters() -> None:
    assert [case.hyper for case in rare_cases(SUBJECTS["clip_by_value"], "float32") if case.hyper["min"] == 0]
    tiny, *_ = rare_cases(SUBJECTS["l1_decay"], "float32")
    assert 0 < max(float(np.abs(param).max(initial=0)) for param in tiny.parameters) < 1e-12
    assert list(zeros.mistakes(SUBJECTS["clip_by_norm"], "float32")) == []


def mistake(new: str, old: str) -> Mistake:
    run = {"finding": "replaced", "new": new, "old": old}
    (listed,) = (each for each in zeros.mistakes(SUBJECTS["adam"], "float32") if each.run == run)
    return listed


def test_what_is_0_is_replaced_and_nothing_else() -> None:
    ones = np.ones(1, np.float32)
    case = Case("adam", "float32", {"beta1": 0.9, "beta2": 0.9, "epsilon": 0.0}, (0.0, 0.5), (ones,), ((ones,),) * 2)
    rate, epsilon = mistake("0.01", "a learning rate of 0"), mistake("1e-08", "epsilon = 0")
    assert rate.fed(case).learning_rates == (0.01, 0.5)
    assert epsilon.hyper(case.hyper) == {"epsilon": 1e-8}
    usual = case.replace(hyper={**case.hyper, "epsilon": 0.1}, learning_rates=(0.1, 0.5))
    assert rate.fed(usual) is usual
    assert epsilon.hyper(usual.hyper) == {}


def refuted(optimizer: str, wrong: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Case]:
    """The rare cases that contradict a rule computed with other hyperparameters."""
    begin: Any = lambda rule, parameters: run_of(subject_named(optimizer).of(wrong(rule.hyper())), parameters)  # noqa: E731
    target = Instead(begin, optimizer)
    return [case for case in rare_cases(subject_named(optimizer), "float32") if contradicts(target, case)]


def contradicts(target: Instead, case: Case) -> bool:
    return not compare(trajectory(target, case, Guard()), expected(case), case.form).conforms


def test_numbers_near_1_are_told_apart() -> None:
    (case,) = refuted("momentum", lambda hyper: {**hyper, "momentum": min(hyper["momentum"], 0.99)})
    assert case.hyper["momentum"] == 1 - (1 - 0.9) / CLOSER


def test_an_iteration_is_short_enough_to_be_judged() -> None:
    cases = rare_cases(SUBJECTS["torch.muon"], "float32")
    judged = [case for case in cases if expected(case).known.any()]
    assert {case.hyper["ns_steps"] for case in judged} == {1}
    assert len(judged) >= len(cases) - 2


def test_a_number_of_0_shows_beside_a_small_rate() -> None:
    (case,) = refuted("torch.rprop", lambda hyper: {**hyper, "step_size_min": hyper["step_size_min"] or 1e-6})
    assert case.hyper["step_size_min"] == 0
    assert case.learning_rates[0] == SMALL_RATE


def test_a_power_below_its_default_is_no_limit_of_it() -> None:
    (case,) = refuted("ftrl", lambda hyper: {**hyper, "lr_power": max(hyper["lr_power"], -1.0)})
    assert case.hyper["lr_power"] == -2


@pytest.mark.parametrize("tolerance", [{"rtol": 0.1, "atol": 0.0}, {"atol": 1e-8}])
def test_a_learning_rate_that_changes_by_little_is_another(tolerance: dict[str, float]) -> None:
    class Lazy:
        def __init__(self, rule: Any, parameters: Any) -> None:
            self.run, self.rate = run_of(rule, parameters), np.inf

        def step(self, grads: list[Any], rate: float) -> Any:
            self.rate = self.rate if np.isclose(rate, self.rate, **tolerance) else rate
            return self.run.step(grads, self.rate)

    begin: Any = Lazy
    contradicting = [
        case for case in rare_cases(SUBJECTS["sgd"], "float32") if contradicts(Instead(begin, "sgd"), case)
    ]
    assert contradicting
    assert all(len(set(case.learning_rates)) == len(case.learning_rates) for case in contradicting)


def test_ends_of_one_sign_are_no_absolute_ends() -> None:
    class Absolute:
        def __init__(self, clip: Any, parameters: Any) -> None:
            self.most = max(clip.max, -clip.min)

        def transform(self, grads: list[Any]) -> list[Any]:
            return [np.clip(grad, grad.dtype.type(-self.most), grad.dtype.type(self.most)) for grad in grads]

    cases = rare_cases(SUBJECTS["clip_by_value"], "float32")
    (case,) = (case for case in cases if case.hyper["min"] > 0)
    begin: Any = Absolute
    assert contradicts(Instead(begin, "clip_by_value"), case)


def test_a_sign_is_told_from_one_with_a_dead_zone() -> None:
    class DeadZone:
        def __init__(self, decay: Any, parameters: Any) -> None:
            self.coefficient, self.signs = decay.regularization_coeff, list(map(self.sign, parameters))

        def sign(self, param: Any) -> Any:
            return np.where(np.abs(param) < 1e-12, 0, np.sign(param)).astype(param.dtype)

        def transform(self, grads: list[Any]) -> list[Any]:
            pairs = zip(grads, self.signs, strict=True)
            return [np.asarray(grad + grad.dtype.type(self.coefficient) * sign) for grad, sign in pairs]

    case, *_ = rare_cases(SUBJECTS["l1_decay"], "float32")
    begin: Any = DeadZone
    assert contradicts(Instead(begin, "l1_decay"), case)
