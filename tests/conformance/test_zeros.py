"""A learning rate of 0 and an epsilon of 0 are tried, and what a target takes for them is named."""

from __future__ import annotations

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs import zeros
from optimetry.conformance.naming.runs.zeros import cases_at_zero
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.reference.rules import RULES


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("optimizer", RULES)
def test_every_rule_is_tried_with_a_rate_of_0_and_each_epsilon_that_may_be_0(optimizer: str, dtype: str) -> None:
    subject = SUBJECTS[optimizer]
    rates, *epsilons = cases_at_zero(subject, dtype)
    assert rates.learning_rates[1::2] == (0.0, 0.0)
    assert all(rates.learning_rates[0::2])
    allowed = {x.name for x in subject.hyperparameters() if x.name in ("epsilon", "eps", "eps1") and 0.0 in x.domain}  # type: ignore[operator]
    assert {name for case in epsilons for name in allowed if case.hyper[name] == 0} == allowed
    assert len(epsilons) == len(allowed)


def test_a_document_says_what_an_epsilon_of_0_gives() -> None:
    for case in cases_at_zero(SUBJECTS["adam"], "float32"):
        assert expected(case).known.all()


def test_wrappers_have_no_such_cases() -> None:
    assert cases_at_zero(SUBJECTS["clip_by_norm"], "float32") == ()
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
