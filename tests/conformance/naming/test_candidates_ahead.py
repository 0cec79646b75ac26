"""What a candidate asks the oracle for ahead is what it then compares with: nothing is evaluated twice, or in vain."""

from __future__ import annotations

from itertools import chain

import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming import adapters
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.known.points import documented_class, named_classes
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.sides import Neighbour
from optimetry.conformance.naming.splits import Split, properties
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.oracle.batched import evaluate
from optimetry.conformance.oracle.expected import evaluation_of, kept_evaluation
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.reference.rules import rule_named

ADAM = subject_named("adam")
CASES = list(drawn_cases(ADAM, "float64", seed=7, count=6))
PLAIN, DIALECT = Explanation(documented_class("adam")), Explanation(named_classes("adam")[0])
ADAPTERS = [Mistaken(PLAIN, mistake) for mistake in chain.from_iterable(adapters.mistakes(ADAM, tuple(CASES))[:1])]
OF_CASES, OF_TENSORS = (
    next(by for by in properties(ADAM) if by.of_tensors == of_tensors) for of_tensors in (False, True)
)
CANDIDATES: dict[str, Candidate] = {
    "documented": PLAIN,
    "dialect": DIALECT,
    "learning rate in float32": Explanation(documented_class("adam"), Arithmetic(float32=(LEARNING_RATE,))),
    **{adapter.part.words: adapter for adapter in ADAPTERS},
    "split by cases": Split(OF_CASES, PLAIN, DIALECT),
    "split by tensors": Split(OF_TENSORS, DIALECT, PLAIN),
    "another rule": Neighbour(rule_named("sgd")),
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_what_is_asked_for_ahead_is_what_is_compared_with(name: str) -> None:
    candidate, cases = CANDIDATES[name], [case.replace() for case in CASES]  # copies, which nothing has evaluated
    asked = list(chain.from_iterable(map(candidate.asks, cases)))
    assert asked
    evaluate(asked)
    if "1 - beta1" not in name:  # which is bounded by different formulas in different cases
        assert any(evaluation_of(each).begun for each in asked)
    before = kept_evaluation.cache_info().misses
    for case in cases:
        candidate.expected(case)
    assert kept_evaluation.cache_info().misses == before
