"""A law is measured with the rounding of the formula that a target computes; none is broken by rounding alone."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.broken import Broken, BrokenLaws, confirmed, widest
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.laws import LAWS
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.equivalents import STYLES
from optimetry.conformance.selftest.equivalents.engines import StyledRun
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rules.sgd import SGD
from optimetry.reports.results import Verdict
from tests.conformance.judged import class_named

FEW = Effort("few", cases=4, law_cases=1)

RULE = class_named("adadelta", "new_average_learning_rate_ignored")

RATE_IS_SMALL = 49
"""The number of the first drawn case whose learning rate shrinks the document's step, and with it the bound."""


def telling_case(optimizer: str = "adadelta", number: int = RATE_IS_SMALL) -> Case:
    return list(drawn_cases(subject_named(optimizer), "float64", seed=0, count=number + 1))[number]


def with_another_tail(rule: Any) -> Instead:
    """A target whose vector body and tail round a rule differently."""
    return Instead(
        lambda documented, parameters: StyledRun(rule(documented), parameters, STYLES["unfused_tail"]), "adadelta"
    )


def of_the_class(documented: Any) -> Any:
    return RULE.of(documented.hyper())


class AnotherBitAtTimes(RuleRun):
    """Changes the last bit of the first element of each update in the runs where ``differs`` is set."""

    differs = False

    def step(self, grads: list[Any], learning_rate: float) -> list[Any]:
        after = super().step(grads, learning_rate)
        for array, grad in zip(after, grads, strict=True):
            if array.size and grad is not None and self.differs:
                array.flat[0] = np.nextafter(array.flat[0], np.inf)
        return after


def judged(target: Any, search: float | None = 0.0) -> Verdict:
    (verdict,) = judge([target], "adadelta", "float64", effort=FEW, seed=0, before=[telling_case()], search=search)
    return verdict


def test_a_dialect_whose_tail_rounds_differently_is_that_dialect() -> None:
    target = with_another_tail(of_the_class)
    difference = LAWS["permutation"].broken(Trial(target, telling_case(), Guard()))
    assert difference is not None  # with the bound of the document, whose step is a hundred times shorter
    broken = BrokenLaws({"permutation": Broken(LAWS["permutation"], difference, telling_case())})
    assert confirmed(target, broken, Explanation(RULE), Guard()).broken == {}
    assert confirmed(target, broken, None, Guard()).broken == {}
    verdict = judged(target)
    assert (verdict.verdict, verdict.dialect, verdict.law) == ("dialect", RULE.name, None)


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_dialect_that_is_not_repeatable_breaks_that_law(period: int) -> None:
    """It keeps no array of a gradient, though runs with fresh arrays may differ as if it did."""
    runs = count()

    def begin(documented: Any, parameters: list[Any]) -> AnotherBitAtTimes:
        run = AnotherBitAtTimes(of_the_class(documented), parameters)
        run.differs = next(runs) % period == 0
        return run

    verdict = judged(Instead(begin, "adadelta"))
    assert (verdict.verdict, verdict.dialect, verdict.law) == ("diverges", None, "repeatable")


class Unknown(type(RULE.of({"epsilon": 1e-6, "rho": 0.5}))):  # type: ignore[misc]
    """Moves twice as far as the class does."""

    def update(self, param: Any, grad: Any, state: Any, lr: Any, t: int) -> Any:
        after, slots = super().update(param, grad, state, lr, t)
        return param + (after - param) * 2.0, slots


def test_rounding_is_no_broken_law_of_an_unknown_rule() -> None:
    verdict = judged(with_another_tail(lambda documented: Unknown(**vars(of_the_class(documented)))), search=None)
    assert (verdict.verdict, verdict.law) == ("diverges", None)
    assert verdict.reason.startswith("no known rule explains it")


class OfNormThree(SGD):
    """Divides each gradient by a norm that no document knows."""

    def update(self, param: Any, grad: Any, state: Any, lr: Any, t: int) -> Any:
        size = np.cbrt(np.sum(np.abs(grad) ** 3, dtype=grad.dtype)) if grad.size else grad
        return super().update(param, grad / (size + grad.dtype.type(1e-12)), state, lr, t)


def laws_broken_by(target: Instead) -> tuple[set[str], set[str]]:
    """The laws that a target breaks by the bound of the document, and those of them that no rounding breaks."""
    laws = BrokenLaws()
    for case in drawn_cases(subject_named("sgd"), "float32", seed=0, count=8):
        laws.try_on(target, case.mapped(grad=lambda grad: grad * grad.dtype.type(2.0**-20)), Guard())
    return set(laws.broken), set(confirmed(target, laws, None, Guard()).broken)


def test_sums_in_another_order_are_no_broken_law_of_an_unknown_rule() -> None:
    broken, kept = laws_broken_by(Instead(lambda documented, parameters: RuleRun(OfNormThree(), parameters), "sgd"))
    assert {"permutation", "splitting"} <= broken
    assert broken - kept == {"permutation"}


def test_what_depends_on_the_place_of_an_element_is_a_broken_law_of_any_rule() -> None:
    """As a loop that ends too early; it is far beyond all rounding."""
    _, kept = laws_broken_by(FAULTS["vector_tail_skipped"].target())
    assert {"permutation", "splitting"} <= kept


@pytest.mark.parametrize("optimizer", ["adadelta", "sgd"])
def test_the_widest_bound_is_at_least_the_documented_one(optimizer: str) -> None:
    case = telling_case(optimizer, 1)
    known, oracle = widest(case).bound, expected(case).bound
    assert (known >= oracle).all()
    assert (known > oracle).any() == (optimizer == "adadelta")
