"""What t counts is told apart for every rule whose update uses it, whether or not it has a family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, cycle
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.counting import counting, uses_step, with_step_count
from optimetry.conformance.naming.known.points import counts_steps, documented_class, separations
from optimetry.conformance.naming.known.probes import APART, counting_probe
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import ANY_GRADIENT, EVERY_STEP, OWN, STEP_COUNT, RuleSubject, training
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.reference.books import BOOKS
from optimetry.reference.books.papers.signum import Signum
from optimetry.reference.books.papers.yogi import Yogi
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.training import Training
from tests.conformance.judged import verdict_of

RULES = {name: rule for book in BOOKS.values() for name, rule in book.items()}
COUNTING = [name for name, rule in RULES.items() if uses_step(rule)]
ALONE = [name for name in COUNTING if name not in FAMILIES]


def test_some_rules_use_the_step_and_some_do_not() -> None:
    assert {"adam", "papers.novograd", "papers.nadam", "torch.sgd", "torch.asgd"} <= set(COUNTING)
    assert not {"sgd", "papers.lion", "papers.signum", "torch.muon"} & set(COUNTING)
    assert len(ALONE) >= 7


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", COUNTING)
def test_every_two_ways_of_counting_are_ten_times_the_slack_apart(name: str, dtype: str) -> None:
    assert counts_steps(name)
    case, documented = counting_probe(name, dtype), documented_class(name)
    assert case is not None
    ways = [documented, *map(documented.counting, STEP_COUNTS)]
    oracles = [expected(case, way.of(case.hyper)) for way in ways]
    assert all(np.max(separations(a, b)) >= APART for a, b in combinations(oracles, 2))


def test_what_uses_no_step_gets_no_field() -> None:
    others = [name for name, subject in SUBJECTS.items() if not (isinstance(subject, RuleSubject) and name in COUNTING)]
    for name in others:
        assert with_step_count(name) is subject_named(name).declaration


@pytest.mark.parametrize("name", ALONE)
def test_a_rule_with_the_field_is_the_rule(name: str) -> None:
    documented = RULES[name]
    hyper = {x.name: x.corners[-1] if x.corners else x.default for x in documented.hyperparameters()}
    counted: Any = with_step_count(name).of(hyper)
    assert (counted.name, counted.hyper()) == (name, documented.of(hyper).hyper())
    assert type(training(counted, [np.ones(1)])) is Training


@dataclass(frozen=True, kw_only=True)
class CorrectedYogi(Yogi):
    """Both moments corrected for their bias, as libraries have it; the document counts no steps."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        _, new = super().update(param, grad, state, lr, t)
        root = np.sqrt(new.v / (1 - self.beta2**t))
        return param - lr * (new.m / (1 - self.beta1**t)) / (root + self.epsilon), new


@pytest.mark.parametrize(
    ("way", "formula"),
    [
        (OWN, "m and v corrected for the bias"),
        (EVERY_STEP, "step_count_global with m and v corrected for the bias"),
    ],
)
def test_a_formula_with_an_edit_is_found_whatever_t_counts(way: str, formula: str) -> None:
    """The cases that formulas are searched on have every gradient, and tell no way of counting from another."""

    def begin(documented: Declared, parameters: list[Array]) -> Any:
        corrected = counting(CorrectedYogi).of(documented.hyper())
        return run_of(replace(corrected, **{STEP_COUNT: way}), parameters)

    verdict = verdict_of(Instead(begin, "papers.yogi"), "papers.yogi", "float32", Effort("few", 30, 3))
    assert (verdict.verdict, verdict.computes.formula) == ("dialect", formula)


@pytest.mark.parametrize("way", [EVERY_STEP, ANY_GRADIENT])
@pytest.mark.parametrize("name", ["torch.nadam", "papers.nadam"])
def test_a_product_of_momenta_goes_with_the_count(name: str, way: str) -> None:
    """As in Keras, where both are of the optimizer: a parameter that misses a gradient finds them where others are."""
    formula: Any = replace(counting(RULES[name]).typical(), **{STEP_COUNT: way})
    trained, ones = training(formula, [np.ones(2), np.ones(2)]), np.ones(2)
    grads: list[list[Array | None]] = [[ones, ones], [ones, None], [None, None], [ones, ones]]
    counts = {EVERY_STEP: [1, 2, 3, 4], ANY_GRADIENT: [1, 2, 2, 3]}[way]
    mu = formula.mu if name == "torch.nadam" else formula.momentum
    moment = RULES[name].slots[0]
    for row, count in zip(grads, counts, strict=True):
        before = trained.states[1][moment]
        trained.step(row, 0.1)
        assert trained.updates == [count] * 2
        product = np.prod([mu(t) for t in range(1, count + 1)])
        assert [state.mu_product for state in trained.states] == pytest.approx([product] * 2, rel=1e-15)
        assert np.array_equal(trained.states[1][moment], before) == (row[1] is None), "the moments wait for a gradient"


def test_numbers_are_counted_in_silence() -> None:
    """An epsilon of 0 makes the step of what has had no gradient 0/0, of which nothing is kept."""
    formula: Any = replace(counting(RULES["torch.nadam"]).of({"eps": 0.0}), **{STEP_COUNT: ANY_GRADIENT})
    trained, ones = training(formula, [np.ones(2), np.ones(2)]), np.ones(2)
    with np.errstate(all="raise"):
        trained.step([ones, None], 0.1)
    assert np.array_equal(trained.parameters[1], ones)
    assert not trained.states[1].exp_avg_sq.any()


def test_a_step_is_used_where_it_is_handed_on() -> None:
    class HandedOn(Signum):
        def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
            return super().update(param, grad, state, lr * t, 1)

    class Counting(Rule):
        def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
            return sum(param for _ in range(3) if t > 1), state

    assert (uses_step(HandedOn), uses_step(Counting), uses_step(Signum)) == (True, True, False)


@pytest.mark.parametrize(("name", "way"), [*zip(ALONE, cycle(STEP_COUNTS))], ids=lambda x: getattr(x, "name", x))
def test_a_rule_without_a_family_is_named_by_what_it_counts(name: str, way: Any) -> None:
    target = computing(documented_class(name).counting(way))
    verdict = verdict_of(target, name, "float32", Effort("few", 30, 0))
    assert (verdict.verdict, verdict.dialect) == ("dialect", way.name)
