"""Moving averages formed as increments: of every rule, in a verdict, beside an edit, and where a law alone shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.examine import examined
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import FAMILIES
from optimetry.conformance.naming.formulas.programs import FIRST, PARAM, Program
from optimetry.conformance.naming.known.counting import plain_case
from optimetry.conformance.naming.known.increments import in_increments, knows_increments, with_increments
from optimetry.conformance.naming.known.points import at, documented_class
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults.scalars import Incremental
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.books.papers.adam import Adam as PublishedAdam
from optimetry.reference.books.papers.adamw import AdamW
from optimetry.reference.rule import State
from optimetry.reference.rules.adam import Adam
from optimetry.reports.results import Computes
from tests.conformance.judged import verdict_of

INCREMENTS = Arithmetic(incremental_moments=True)
RULES = [name for name, subject in SUBJECTS.items() if isinstance(subject, RuleSubject)]
AVERAGED = [name for name in RULES if knows_increments(name)]
"""The rules with an average that may be formed as an increment."""

ENOUGH = Effort("enough", 80, 1)


class Chainers(AdamW):
    """AdamW as Chainer has it: the decay of the publication, an epsilon that is not corrected, and increments."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = state.m + (1 - self.beta1) * (grad - state.m)
        v = state.v + (1 - self.beta2) * (np.square(grad) - state.v)
        rate = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        param = param - self.weight_decay * param
        return param - rate * m / (np.sqrt(v) + self.epsilon), State(m=m, v=v)


def computing_by_hand(rule: Any) -> Instead:
    """A target that computes a rule written here, with the hyperparameters of the documented one."""
    return Instead(lambda documented, parameters: RuleRun(rule(**documented.hyper()), parameters), rule.name)


def test_rules_without_an_average_know_no_increments() -> None:
    others = set(RULES) - set(AVERAGED)
    assert {"sgd", "adagrad", "ftrl", "papers.ftrl", "torch.rprop", "torch.muon", "torch.adafactor"} <= others
    assert {"adam", "adadelta", "rmsprop", "papers.adamw", "papers.lion", "papers.adan", "torch.rmsprop"} <= {*AVERAGED}
    assert not knows_increments("clip_by_norm")


@pytest.mark.parametrize("name", AVERAGED)
def test_increments_are_the_documented_formula_rounded_otherwise(name: str) -> None:
    """Two evaluations of one formula differ by no more than both bounds; in some case they do differ."""
    explanation, differing = Explanation(documented_class(name), INCREMENTS), 0
    target, judged = computing(explanation), 0
    for case in drawn_cases(subject_named(name), "float32", seed=11, count=8):
        plain, incremental = expected(case), explanation.expected(case)
        known = np.isfinite(plain.bound) & np.isfinite(incremental.bound)
        apart = np.abs(plain.value - incremental.value)[known]
        assert np.all(apart <= (plain.bound + incremental.bound)[known])
        differing += int(np.count_nonzero(plain.bound[known] != incremental.bound[known]))
        agreement = compare(trajectory(target, case, Guard()), incremental, case.form)
        assert agreement.share <= 1, "an evaluation in this order needs no slack"
        judged += agreement.elements - agreement.vacuous
    assert judged
    assert differing


@pytest.mark.parametrize("name", AVERAGED)
def test_increments_are_bounded_about_as_tightly_as_the_document(name: str) -> None:
    """An average occurs twice in its increment; errors taken as independent would double in each step."""
    explanation = Explanation(documented_class(name), INCREMENTS)
    documented = incremental = 0
    ratios = []
    for case in drawn_cases(subject_named(name), "float32", seed=11, count=16):
        plain, increments = expected(case), explanation.expected(case)
        documented += np.count_nonzero(plain.known)
        incremental += np.count_nonzero(plain.known & increments.known)
        moved = plain.known & increments.known & (plain.bound > 0)
        ratios.append(increments.bound[moved] / plain.bound[moved])
    assert incremental >= 0.95 * documented
    assert np.quantile(np.concatenate(ratios), 0.9) < 20


SPELLINGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "m + (1-b)*(x - m)": lambda m, b, x: m + (1 - b) * (x - m),
    "m - (1-b)*(m - x)": lambda m, b, x: m - (1 - b) * (m - x),
    "m + ((1-b)*x - (1-b)*m)": lambda m, b, x: m + ((1 - b) * x - (1 - b) * m),
    "(m + (1-b)*x) - (1-b)*m": lambda m, b, x: (m + (1 - b) * x) - (1 - b) * m,
    "x + b*(m - x)": lambda m, b, x: x + b * (m - x),
    "b*m + (1-b)*x": lambda m, b, x: b * m + (1 - b) * x,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_increment_has_many_spellings(spelling: str, dtype: str) -> None:
    formed = SPELLINGS[spelling]

    class Spelled(PublishedAdam):
        def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
            m, v = formed(state.m, self.beta1, grad), formed(state.v, self.beta2, np.square(grad))
            root = np.sqrt(v / (1 - self.beta2**t)) + self.epsilon
            return param - lr * (m / (1 - self.beta1**t)) / root, State(m=m, v=v)

    target, explanation = computing_by_hand(Spelled), Explanation(documented_class(Spelled.name), INCREMENTS)
    for case in drawn_cases(subject_named(Spelled.name), dtype, seed=5, count=40):
        assert compare(trajectory(target, case, Guard()), explanation.expected(case), case.form).share <= 1


@pytest.mark.parametrize("name", [name for name in AVERAGED if name in FAMILIES])
def test_a_family_s_formula_keeps_its_choices(name: str) -> None:
    plain = at(name, {}, plain_case(name, "float64").hyper)
    rule: Any = with_increments(plain)
    assert type(rule) is not type(plain)
    assert rule.hyper() == plain.hyper()


def test_the_program_says_what_is_added_to_an_average() -> None:
    program: Program = {
        PARAM: ("subtract", "param", ("add", ("multiply", "b", "m"), ("multiply", ("subtract", 1, "b"), "grad"))),
        "m": ("add", ("multiply", "b", "m"), ("multiply", ("subtract", 1, "b"), "grad")),
        "v": ("add", ("multiply", ("subtract", 1, "c"), "v"), ("multiply", "c", ("square", "grad"))),
        "s": ("add", ("multiply", "b", "s"), "grad"),  # a sum with a decay is no average
        FIRST + "m": 0.0,
    }
    moved = ("increment", "m", ("subtract", 1, "b"), "grad")
    assert in_increments(program) == {
        PARAM: ("subtract", "param", moved),
        "m": moved,
        "v": ("maximum", ("increment", "v", "c", ("square", "grad")), 0.0),
        "s": ("add", ("multiply", "b", "s"), "grad"),
        FIRST + "m": 0.0,
    }


def test_a_published_rule_formed_as_increments_is_itself() -> None:
    """It was named as another book's rule, whose family alone knew increments."""
    target = computing(Explanation(documented_class("papers.adamw"), INCREMENTS))
    verdict = verdict_of(target, "papers.adamw", "float32", ENOUGH)
    assert (verdict.verdict, verdict.computes) == (
        "imprecise",
        Computes("documented", arithmetic=["incremental_moments"]),
    )


def test_an_edit_is_found_of_a_rule_formed_as_increments() -> None:
    verdict = verdict_of(computing_by_hand(Chainers), "papers.adamw", "float32", ENOUGH)
    assert verdict.computes.formula == "bias corrected in the learning rate, not in the moments"
    assert verdict.computes.arithmetic == ["incremental_moments"]


def test_a_law_that_increments_alone_break_rejects_nothing() -> None:
    """Of Chainer's Adam: without a decay it keeps a rounding error of the old moment, which one case shows, too."""
    (examination,) = examined([computing_by_hand(Incremental)], "adam", "float32", effort=Effort("few", 12, 3), seed=0)
    rejected, _ = examination.rejected or pytest.fail("a case without a decay")
    assert rejected.hyper["beta2"] == 0
    assert set(examination.laws.broken) == {"special_case"}
    verdict = examination.verdict()
    assert (verdict.verdict, verdict.law, verdict.computes.rule) == ("imprecise", None, "documented")
    assert verdict.computes.arithmetic == ["incremental_moments"]
    assert verdict.counterexample is not None


def test_a_law_that_no_rounding_breaks_still_rejects() -> None:
    """The same, but without decays, where it takes a step of twice the size."""

    class TwiceWithoutDecays(Adam):
        def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
            return super().update(param, grad, state, lr * (2.0 if self.beta1 == self.beta2 == 0 else 1.0), t)

    (examination,) = examined(
        [computing_by_hand(TwiceWithoutDecays)], "adam", "float32", effort=Effort("few", 12, 3), seed=0
    )
    verdict = examination.verdict()
    assert (verdict.verdict, verdict.law) == ("diverges", "special_case")
