"""A dialect that is a rule of another book is named by it, and so is a target that nothing in its own book explains."""

from __future__ import annotations

import json
from typing import Any

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.large import Scale
from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.elsewhere import OtherRule, dialects_elsewhere, rules_elsewhere, without_epsilon
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.instead import computing as computing_explanation
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import RuleRun, run_of
from optimetry.reference.books import BOOKS
from optimetry.reference.books.papers.amsgrad import AMSGrad
from optimetry.reference.declaration import Declared
from optimetry.reference.errors import HyperparameterError
from optimetry.reference.rule import Array, Rule, State
from optimetry.reference.rules.sgd import SGD
from optimetry.reports.results import Computes, Verdict, line
from tests.conformance.judged import verdict_of

EFFORT = Effort("elsewhere", cases=8, law_cases=0)


def computing(optimizer: str, other: str, **hyper: Any) -> Instead:
    """A target that computes a rule of another book, given the hyperparameters that both have."""
    known = (*rules_elsewhere(optimizer), *dialects_elsewhere(optimizer))
    (rule,) = (x.dialect for x in known if x.name == other)
    assert isinstance(rule, OtherRule)

    def begin(documented: Any, parameters: list[Any]) -> RuleRun:
        computed = rule.of(documented.hyper()).with_values(hyper)
        assert isinstance(computed, Rule)
        return RuleRun(computed, parameters)

    return Instead(begin, optimizer)


def judged(optimizer: str, other: str, **hyper: Any) -> Verdict:
    return verdict_of(computing(optimizer, other, **hyper), optimizer, "float32", EFFORT)


def test_a_dialect_is_named_by_the_books_whose_rule_it_is() -> None:
    verdict = judged("adam", "torch.adam")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "scaled_epsilon")
    assert verdict.computes.same_as == ["papers.adam", "torch.adam"]
    assert str(verdict.computes) == "scaled_epsilon = papers.adam = torch.adam"
    assert json.loads(line(verdict))["computes"]["same_as"] == ["papers.adam", "torch.adam"]


def test_what_only_another_book_documents_has_the_name_of_that_rule() -> None:
    verdict = judged("papers.adamw", "torch.adamw")
    assert (verdict.verdict, verdict.dialect, verdict.computes.rule) == ("dialect", "torch.adamw", "torch.adamw")
    assert str(verdict.computes) == "torch.adamw"
    assert verdict.reason == "the formula of torch.adamw, as in torch.optim.AdamW (docstring)"


def test_a_rule_that_is_computed_somewhere_is_named_before_a_point_that_nobody_is_known_to_compute() -> None:
    """In bfloat16 no case tells an epsilon of 1e-8 from none, which is a point of the family of the published rule."""
    target, enough = computing("papers.radam", "torch.radam"), Effort("elsewhere", cases=40, law_cases=0)
    verdict = verdict_of(target, "papers.radam", "bfloat16", enough)
    assert (verdict.dialect, verdict.computes.same_as) == ("torch.radam", ["torch.radam"])


def test_a_dialect_of_another_book_names_what_nothing_else_does() -> None:
    verdict = judged("papers.adagrad", "adagrad:epsilon_inside")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "adagrad:epsilon_inside")
    assert verdict.reason.startswith("of adagrad: w -= lr*g / sqrt(m + eps), as in optax.adagrad")


def test_a_rule_of_norms_names_what_was_asked_for_as_an_elementwise_one() -> None:
    """It breaks laws of elementwise formulas, and some elements of a large case say nothing of it."""
    effort = Effort("elsewhere", cases=8, law_cases=2, scales=(Scale(((20_000,),)),))
    verdict = verdict_of(computing("adam", "papers.lamb"), "adam", "float32", effort)
    assert (verdict.verdict, verdict.dialect, verdict.law) == ("dialect", "papers.lamb", None)


def test_a_rule_that_moves_what_has_no_gradient_names_what_was_asked_for_as_one_that_rests() -> None:
    """FTML divides by what it has multiplied by, which rounds."""
    verdict = verdict_of(computing("papers.adam", "papers.ftml"), "papers.adam", "float32", Effort("elsewhere", 40, 2))
    assert (verdict.verdict, verdict.dialect, verdict.law) == ("dialect", "papers.ftml", None)


def test_a_rule_of_another_book_may_hold_a_number_in_float32() -> None:
    """It is no edit of that rule, and the number is called what the judged document calls it."""
    (rule,) = (x for x in rules_elsewhere("papers.nadam") if x.name == "torch.nadam")
    target = computing_explanation(Explanation(rule, Arithmetic(float32=("nu",))))
    verdict = verdict_of(target, "papers.nadam", "float64", EFFORT)
    assert (verdict.verdict, str(verdict.computes)) == ("dialect", "torch.nadam; nu in float32")


def test_a_rule_of_another_book_with_a_hyperparameter_of_its_own_is_not_named() -> None:
    """Its momentum decay is nothing that this target was given."""
    assert judged("papers.radam", "torch.radam", weight_decay=0.1).computes.same_as == []


def test_the_documented_rule_is_not_named_by_another_book() -> None:
    verdict = judged("papers.adam", "torch.adam")
    assert verdict.computes == Computes("documented")


def test_names_correspond_with_their_domains() -> None:
    known = {x.name: x.dialect for x in rules_elsewhere("papers.nadam")}
    nadam = known["torch.nadam"]
    assert isinstance(nadam, OtherRule)
    assert nadam.names == {"beta1": "mu", "beta2": "nu", "eps": "epsilon", "momentum_decay": "momentum_decay"}
    assert nadam.of({"mu": 0.5, "nu": 0.5, "epsilon": 0.1, "momentum_decay": 0.0}).hyper()["eps"] == 0.1
    assert "papers.lion" not in {x.name for x in rules_elsewhere("adam")}, "it requires a weight decay"
    assert "papers.adagrad" not in {x.name for x in rules_elsewhere("adagrad")}, "it has no initial value"
    assert "papers.adagrad" in {x.name for x in rules_elsewhere("adagrad", frozenset({"initial_accumulator_value"}))}
    assert "papers.adan" not in {x.name for x in rules_elsewhere("torch.adam")}, "its betas are weights of what is new"
    assert not rules_elsewhere("clip_by_norm")
    for name in BOOKS["papers"]:
        assert name not in {x.name for x in rules_elsewhere(name)}, "a rule explains itself already"


def test_a_document_may_exclude_the_end_of_a_domain_that_another_includes() -> None:
    """It then names what is wrong in the other's terms, and its formula is evaluated at the end as it stands."""
    verdict = judged("papers.adadelta", "adadelta:new_average_learning_rate_ignored")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "adadelta:new_average_learning_rate_ignored")
    (rule,) = (x for x in rules_elsewhere("papers.adadelta") if x.name == "adadelta")
    assert rule.of({"rho": 1.0, "epsilon": 0.0}).hyper() == {"rho": 1.0, "epsilon": 0.0}
    with pytest.raises(HyperparameterError, match="rho"):
        SUBJECTS["adadelta"].of({"rho": 1.0, "epsilon": 1e-6})


@pytest.mark.parametrize(
    ("optimizer", "other"),
    [("sgd", "adam"), ("adamax", "adam"), ("torch.adam", "torch.adamw"), ("papers.adam", "papers.nadam")],
)
def test_a_rule_of_the_same_book_is_named_too(optimizer: str, other: str) -> None:
    """Whoever takes Adam for gradient descent is told that it is Adam, and torch's AdamW is no Adam with an edit."""
    verdict = judged(optimizer, other)
    assert (verdict.verdict, verdict.dialect) == ("dialect", other)


@pytest.mark.parametrize(
    ("optimizer", "other", "sentence"),
    [
        ("adam", "torch.adam", "ANOTHER RULE, scaled_epsilon, which is papers.adam and torch.adam"),
        ("papers.adamw", "torch.adamw", "ANOTHER RULE, torch.adamw"),
    ],
)
def test_a_diagnosis_says_which_rule_it_is(optimizer: str, other: str, sentence: str) -> None:
    diagnoses = diagnose([computing(optimizer, other)], optimizer, "float32", effort=EFFORT, seed=0)
    assert sentence in report("", diagnoses, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["adam:amsgrad without epsilon", "adam:uncorrected_amsgrad without epsilon"])
def test_an_epsilon_that_a_document_lacks_may_be_0_in_what_another_book_says(name: str, dtype: str) -> None:
    """fairseq's Adam with amsgrad and an epsilon of 0, and the equations as printed, give 0/0 before any gradient."""
    (rule,) = (x for x in without_epsilon("papers.amsgrad") if x.name == name)
    verdict = verdict_of(computing_explanation(rule), "papers.amsgrad", dtype, EFFORT)
    assert (verdict.verdict, verdict.dialect) == ("dialect", name)
    assert verdict.reason.startswith("of adam without epsilon: x = max(x, v)")
    assert not without_epsilon("adam"), "which has one"


class UnguardedAMSGrad(AMSGrad):
    """With the square in place of its root, which no rule has, and 0/0 where no gradient has been."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        _, new = super().update(param, grad, state, lr, t)
        return param - lr * new.m / new.v_max * self.beta1, new


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_infinite_wherever_the_target_has_numbers_explains_none_of_them(dtype: str) -> None:
    """With the second moment before the step for a divisor every first step is infinite, and what follows is NaN."""

    def begin(documented: Declared, parameters: list[Array]) -> Any:
        return run_of(UnguardedAMSGrad.of(documented.hyper()), parameters)

    verdict = verdict_of(Instead(begin, "papers.amsgrad"), "papers.amsgrad", dtype, EFFORT)
    assert (verdict.verdict, verdict.dialect, verdict.computes.parts) == ("diverges", None, [])
    assert verdict.reason.startswith("returned NaN")


def test_a_rule_of_that_name_in_another_book_is_meant_though_no_number_has_an_effect() -> None:
    verdict = judged("papers.adadelta", "adadelta:old_gradient_average")
    assert (verdict.verdict, verdict.dialect) == ("dialect", "adadelta:old_gradient_average")


def test_a_formula_that_has_no_use_for_any_number_is_not_named() -> None:
    """Of plain descent, torch.adadelta:old_gradient_average, whose two averages are equal and cancel, explains all."""
    descends = Instead(lambda documented, parameters: run_of(SGD(), parameters), "adagrad")
    descends.pinned = {"adagrad": {"initial_accumulator_value": 0.0}}  # type: ignore[attr-defined]
    assert verdict_of(descends, "adagrad").reason.startswith("the formula of sgd, which has no use for")


def test_a_rule_of_another_book_may_count_steps_in_another_way() -> None:
    """DyNet's Adam, against the publication: it is fluid's, and counts every step."""
    (rule,) = (x for x in rules_elsewhere("papers.adam") if x.name == "adam")
    (every, _) = STEP_COUNTS
    target = computing_explanation(rule.counting(every))
    verdict = verdict_of(target, "papers.adam", "float32", Effort("elsewhere", cases=40, law_cases=0))
    assert (verdict.verdict, verdict.dialect) == ("dialect", "adam, step_count_global")
