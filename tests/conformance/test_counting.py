"""What t counts is told apart for every rule whose update uses it, whether or not it has a family."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.naming.counting import uses_step, with_step_count
from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.points import counts_steps, documented_class, separations
from optimetry.conformance.naming.probes import APART, counting_probe
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject, training
from optimetry.reference.books import BOOKS
from optimetry.reference.books.papers.signum import Signum
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.training import Training
from tests.conformance.judged import verdict_of

RULES = {name: rule for book in BOOKS.values() for name, rule in book.items()}
COUNTING = [name for name, rule in RULES.items() if uses_step(rule)]
ALONE = [name for name in COUNTING if name not in FAMILIES]


def test_some_rules_use_the_step_and_some_do_not() -> None:
    assert {"adam", "papers.novograd", "papers.nadam", "torch.sgd", "torch.asgd"} <= set(COUNTING)
    assert not {"sgd", "papers.lion", "papers.signum", "torch.muon"} & set(COUNTING)
    assert len(ALONE) >= 9


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
    given = {x.name: x.corners[-1] if x.corners else x.default for x in documented.hyperparameters()}
    counted: Any = with_step_count(name).of(given)
    assert (counted.name, counted.hyper()) == (name, documented.of(given).hyper())
    assert type(training(counted, [np.ones(1)])) is Training


def test_a_step_is_used_where_it_is_handed_on() -> None:
    class HandedOn(Signum):
        def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
            return super().update(param, grad, state, lr * t, 1)

    class Counting(Rule):
        def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
            return sum(param for _ in range(3) if t > 1), state

    assert (uses_step(HandedOn), uses_step(Counting), uses_step(Signum)) == (True, True, False)


@pytest.mark.parametrize("way", STEP_COUNTS, ids=lambda way: way.name)
@pytest.mark.parametrize("name", ALONE)
def test_a_rule_without_a_family_is_named_by_what_it_counts(name: str, way: Any) -> None:
    target = computing(documented_class(name).counting(way))
    found = verdict_of(target, name, "float32", Effort("few", 30, 0))
    assert (found.verdict, found.dialect) == ("dialect", way.name)
