"""Mistakes of adapters: which inputs reach the rule, and what a verdict says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying import partial_explanations
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.adapters import mistakes, usual_constants
from optimetry.conformance.naming.candidates import arithmetics, tiers_of_mistakes
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.mistakes import Mistake, Mistaken
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.faults.hooks import HookedRun, Hooks
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.selftest.known_targets import judged
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reports.parts import Part
from optimetry.reports.results import Computes
from tests.conformance.judged import class_named, verdict_of

X, Y, Z = (np.array([x], np.float32) for x in (1.0, 2.0, 3.0))
MOMENTUM = {"momentum": 0.5, "use_nesterov": True}
CASE = Case("momentum", "float32", MOMENTUM, (0.5, 0.25, 0.1), (X, Y), ((None, Y), (Z, None), (None, X)))
CASES = (CASE, CASE.replace(hyper={**MOMENTUM, "momentum": 0.25}))


def mistake(inputs: dict[str, Any], optimizer: str = "momentum", cases: tuple[Case, ...] = CASES) -> Mistake:
    (named,) = (each for tier in mistakes(SUBJECTS[optimizer], cases) for each in tier if each.given == inputs)
    return named


def test_an_epsilon_of_a_library_is_tried_under_every_name() -> None:
    for optimizer, name in (("adam", "epsilon"), ("torch.adam", "eps"), ("torch.adafactor", "eps1")):
        held = [each.given["held"] for each in usual_constants(SUBJECTS[optimizer]) if "held" in each.given]
        assert {name: 1e-7} in held


def test_gradients_that_are_never_cleared() -> None:
    sums = mistake({"gradients": "summed"}).fed(CASE).grads
    assert [[grad if grad is None else float(grad[0]) for grad in row] for row in sums] == [
        [None, 2],
        [3, None],
        [None, 3],
    ]


def test_what_never_varies_is_not_complemented() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        mistake({"complement": "momentum"}, cases=(CASE, CASE))


def test_the_learning_rate_that_reaches_a_rule() -> None:
    assert mistake({"learning_rate": "of_the_first_step"}).fed(CASE).learning_rates == (0.5, 0.5, 0.5)
    assert mistake({"learning_rate": "of_the_step_before"}).fed(CASE).learning_rates == (0.5, 0.5, 0.25)
    assert mistake({"held": {"learning_rate": 1.0}}).fed(CASE).learning_rates == (1.0, 1.0, 1.0)


def test_what_reaches_a_rule_for_a_missing_gradient() -> None:
    zeros = mistake({"missing_gradients": "zeros"}).fed(CASE).grads
    assert [[float(grad[0]) for grad in row if grad is not None] for row in zeros] == [[0, 2], [3, 0], [0, 1]]
    repeated = mistake({"missing_gradients": "repeated"}).fed(CASE).grads
    assert [[None if grad is None else float(grad[0]) for grad in row] for row in repeated] == [
        [None, 2],
        [3, 2],
        [3, 1],
    ]


def test_the_hyperparameters_that_reach_a_rule() -> None:
    assert mistake({"held": {"use_nesterov": False}}).hyper(MOMENTUM) == {"use_nesterov": False}
    assert mistake({"complement": "momentum"}).hyper(MOMENTUM) == {"momentum": 0.5}
    adam = {"beta1": 0.9, "beta2": 0.0, "epsilon": 0.1}
    cases = tuple(CASE.replace(optimizer="adam", hyper={**adam, "beta2": x}) for x in (0.0, 0.5))
    assert mistake({"swapped": ["beta1", "beta2"]}, "adam", cases).hyper(adam) == {"beta1": 0.0, "beta2": 0.9}
    turned = mistake({"complement": "beta2"}, "adam", cases)
    explanation = Explanation(documented_class("adam"))
    computed: Any = explanation.computed(adam, turned.hyper(adam))
    assert (computed.beta1, computed.beta2) == (0.9, 1.0), "outside its domain, as an adapter may pass it"


def test_a_rule_with_other_inputs_is_evaluated_from_them() -> None:
    adapter = Mistaken(Explanation(documented_class("momentum")), mistake({"held": {"use_nesterov": False}}))
    plain = expected(CASE.replace(hyper={**MOMENTUM, "use_nesterov": False}))
    np.testing.assert_array_equal(adapter.expected(CASE).value, plain.value)
    assert (adapter.expected(CASE).value != expected(CASE).value).any()


def test_a_verdict_records_the_mistake_and_advises() -> None:
    verdict = judged(FAULTS["betas_swapped"], "float32")
    part = Part("documented", None, {"swapped": ["beta1", "beta2"]})
    assert (verdict.verdict, verdict.dialect, verdict.computes) == ("diverges", None, Computes(parts=[part]))
    expected = "computes the documented rule with beta1 and beta2 swapped: check how arguments are passed on"
    assert verdict.reason == expected
    assert verdict.counterexample is not None
    dialect = judged(FAULTS["scaled_epsilon_with_a_default_beta2"], "float32")
    assert dialect.reason.startswith("computes scaled_epsilon with beta2 = 0.999 whatever is given")


def test_a_rule_that_explains_without_the_mistake_is_no_mistake() -> None:
    """SGD takes missing gradients and zeros alike: a run that is not repeatable must not be called that mistake."""
    verdict = judged(FAULTS["kernel_chosen_by_the_run"], "float32")
    assert verdict.law == "repeatable"
    assert verdict.computes == Computes()


def test_a_mistake_is_refuted_by_a_law_that_it_does_not_break() -> None:
    zeros, held = mistake({"missing_gradients": "zeros"}), mistake({"held": {"momentum": 0.0}})
    assert zeros.may_break(LAWS["missing_gradient"])
    assert zeros.may_break(None)
    assert held.may_break(None)
    assert not held.may_break(LAWS["missing_gradient"])
    assert not zeros.may_break(LAWS["repeatable"])


class Overflowing(Mistaken):
    """A mistake of which the bound says nothing anywhere."""

    def expected(self, case: Case) -> Expected:
        plain = expected(case)
        return Expected(np.full_like(plain.value, np.inf), np.full_like(plain.bound, np.inf), plain.start)

    def computed_in(self, arithmetic: Arithmetic) -> Overflowing:
        return self


def test_a_mistake_that_excludes_nothing_explains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = Overflowing(Explanation(documented_class("momentum")), mistake({"held": {"momentum": 0.0}}))
    monkeypatch.setattr(partial_explanations, "tiers_of_mistakes", lambda optimizer, dtype, cases: iter([[adapter]]))
    assert verdict_of(Instead(two_mistakes, "momentum"), "momentum").computes == Computes()


def two_mistakes(documented: Any, parameters: list[Any]) -> HookedRun:
    rule = type(documented).of({**documented.hyper(), "use_nesterov": False})
    return HookedRun(rule, parameters, Hooks(rate=lambda rates: rates[0]))


def other_constant(documented: Any, parameters: list[Any]) -> RuleRun:
    return RuleRun(type(documented).of({**documented.hyper(), "momentum": 0.8}), parameters)


def drifting_constant(documented: Any, parameters: list[Any]) -> RuleRun:
    number = 0.8 if documented.momentum < 0.5 else 0.7
    return RuleRun(type(documented).of({**documented.hyper(), "momentum": number}), parameters)


@pytest.mark.parametrize("begin", [two_mistakes, drifting_constant])
def test_what_is_no_single_mistake_is_not_named(begin: Any) -> None:
    assert verdict_of(Instead(begin, "momentum"), "momentum").computes == Computes()


def by_a_batch(size: int) -> Any:
    return lambda documented, parameters: HookedRun(documented, parameters, Hooks(rate=lambda rates: rates[-1] / size))


def with_a_decay(documented: Any, parameters: list[Any]) -> RuleRun:
    return RuleRun(type(documented).of({**documented.hyper(), "weight_decay": 0.0005}), parameters)


@pytest.mark.parametrize(
    ("begin", "optimizer", "dtype", "given", "words"),
    [
        (other_constant, "momentum", "float32", {"held": {"momentum": 0.8}}, "momentum = 0.8 whatever is given"),
        (with_a_decay, "torch.sgd", "float64", {"held": {"weight_decay": 5e-4}}, "weight_decay = 0.0005 whatever is"),
        (by_a_batch(10), "sgd", "float32", {"multiplied": {"learning_rate": 0.1}}, "learning_rate times 0.1: check"),
        (
            by_a_batch(3),
            "momentum",
            "float64",
            {"multiplied": {"learning_rate": 1 / 3}},
            "learning_rate times 0.333333",
        ),
    ],
)
def test_a_wrong_constant_that_no_list_has_is_solved_for(
    begin: Any, optimizer: str, dtype: str, given: dict[str, Any], words: str
) -> None:
    verdict = verdict_of(Instead(begin, optimizer), optimizer, dtype)
    assert verdict.computes == Computes(parts=[Part("documented", None, given)])
    assert f"computes the documented rule with {words}" in verdict.reason


def test_a_dialect_is_named_before_a_mistake_is_looked_for() -> None:
    scaled = class_named("adam", "scaled_epsilon")
    computes = verdict_of(computing(scaled), "adam").computes
    assert computes == Computes("scaled_epsilon", scaled.difference, same_as=["papers.adam", "torch.adam"])


@pytest.mark.parametrize(("dtype", "ways"), [("float32", 2), ("float64", 3)])
def test_mistakes_are_tried_in_every_arithmetic_the_widest_first_in_the_probes(dtype: str, ways: int) -> None:
    case = CASE.replace(dtype=dtype)
    known = arithmetics("momentum", dtype)
    assert len(known) == ways
    tried = [adapter for tier in tiers_of_mistakes("momentum", dtype, (case,)) for adapter in tier]
    assert {adapter.explanation.arithmetic for adapter in tried} == {known[-1]}
    assert {adapter.rule.documented for adapter in tried} == {True, False}
