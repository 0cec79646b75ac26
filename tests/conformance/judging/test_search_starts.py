"""What a search starts from: the document, every named dialect, and the rules of other books."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.judging.identifying.searching import says_enough, searched
from optimetry.conformance.naming.formulas.notation import text_of
from optimetry.conformance.naming.known.elsewhere import starts_elsewhere
from optimetry.conformance.naming.search.edited import traced
from optimetry.conformance.numerics.agreement import Agreement
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rule import State
from tests.conformance.judged import verdict_of, with_hooks

FEW = Effort("few", 12, 1)
ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def lion(self, param, grad, state, lr, t):
    param = param - lr * np.sign(self.beta1 * state.m + (1 - self.beta1) * grad)
    return param, State(m=self.beta1 * state.m + (1 - self.beta2) * grad)


def adamw(self, param, grad, state, lr, t):
    param = param - lr * self.weight_decay * param
    exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
    exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.abs(grad)
    step = lr * (exp_avg / (1 - self.beta1**t)) / (np.sqrt(exp_avg_sq / (1 - self.beta2**t)) + self.eps)
    return param - step, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, max_exp_avg_sq=state.max_exp_avg_sq)


def computing(name, update=None):
    """A target that computes a rule of another book where Adam is asked for, perhaps with another update."""
    (start,) = (each for each in starts_elsewhere("adam", frozenset({"epsilon"})) if each.name.split()[0] == name)

    def begin(documented, parameters):
        rule = start.of(documented.hyper())
        kind = type("Other", (type(rule),), {} if update is None else {"update": update})
        return RuleRun(kind.of(rule.hyper()), parameters)

    return Instead(begin, "adam")


@pytest.mark.parametrize(
    ("target", "formula"),
    [
        (computing("torch.adamw", adamw), "scaled_epsilon_decoupled_decay with square(grad) -> abs(grad)"),
        (computing("papers.lion", lion), "papers.lion without weight_decay with beta2*m -> beta1*m"),
    ],
)
def test_one_edit_of_a_dialect_or_of_another_book_is_found(target, formula):
    verdict = verdict_of(target, "adam", "float32", FEW)
    assert (verdict.verdict, verdict.dialect, verdict.computes.formula) == ("dialect", "found", formula)
    assert verdict.reason == f"{formula}: found by search, and declared nowhere"


FLAGS = dict.fromkeys(("amsgrad", "maximize", "decoupled_weight_decay"), False)


@pytest.mark.parametrize(
    ("pinned", "formula"),
    [
        (FLAGS | {"eps": 0.0}, "square(grad + weight_decay*param) -> square(grad)"),
        (FLAGS | {"maximize": True}, "square(-grad + weight_decay*param) -> square(-grad)"),
    ],
)
def test_what_a_target_has_one_value_of_is_in_no_text_of_its_formula(pinned, formula):
    """A decay that reaches the first moment alone is an edit of what is left, and of choices by three flags is two."""

    def update(self, param, grad, state, lr, t):
        grad = -grad if self.maximize else grad
        m = self.beta1 * state.exp_avg + (1 - self.beta1) * (grad + self.weight_decay * param)
        v = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)
        root = np.sqrt(v / (1 - self.beta2**t)) + self.eps
        after = State(exp_avg=m, exp_avg_sq=v, max_exp_avg_sq=state.max_exp_avg_sq)
        return param - lr * (m / (1 - self.beta1**t)) / root, after

    kind = type("DecayOfOneMoment", (subject_named("torch.adam").declaration,), {"update": update})
    target = Instead(lambda rule, parameters: RuleRun(kind.of(rule.hyper()), parameters), "torch.adam")
    target.pinned = {"torch.adam": pinned}
    assert verdict_of(target, "torch.adam", "float32", FEW).computes.formula == formula


def test_a_rule_of_another_book_that_has_no_use_for_a_number_is_named_by_a_search_alone():
    (diagnosis,) = diagnose([computing("papers.lion")], "adam", "float32", effort=FEW, seed=0)
    assert diagnosis.verdict.reason == (
        "the formula of papers.lion without weight_decay, which has no use for epsilon: found by search"
    )
    assert diagnosis.found is not None
    assert (diagnosis.found.start, diagnosis.found.changes) == ("papers.lion without weight_decay", "")


def test_what_takes_every_number_and_uses_none_is_gradient_descent():
    """Nadir's Adagrad, whose step never asks for its divisor, was called RAdam without its decays."""

    def update(self, param, grad, state, lr, t):
        return param - lr * grad, state

    kind = type("Plain", (subject_named("adagrad").declaration,), {"update": update})
    target = Instead(lambda rule, parameters: RuleRun(kind.of(rule.hyper()), parameters), "adagrad")
    assert verdict_of(target, "adagrad", "float32", FEW).reason == (
        "the formula of sgd, which has no use for epsilon and initial_accumulator_value: found by search"
    )


def test_a_target_that_uses_a_number_is_no_rule_without_a_use_for_it():
    """The sign of a sum that epsilon enters is Lion's only where that is 0."""

    def update(self, param, grad, state, lr, t):
        param = param - lr * np.sign(self.beta1 * state.moment1 + self.epsilon * np.cbrt(grad))
        return param, State(moment1=state.moment1 + grad, moment2=state.moment2)

    kind = type("Uses", (subject_named("adam").declaration,), {"update": update})
    target = Instead(lambda rule, parameters: RuleRun(kind.of(rule.hyper()), parameters), "adam")
    assert verdict_of(target, "adam", "float32", FEW).verdict == "diverges"


def test_of_another_book_only_what_is_known_here_is_in_the_formula():
    """AdamW's flags keep their defaults; Lion's decay, which is required there, is 0, and so is Adam's by default."""
    starts = {start.name: traced(start, ADAM) for start in starts_elsewhere("adam", frozenset({"epsilon"}))}
    lines = {name: text_of(program["param"]) for name, program in starts.items() if program}
    assert lines["papers.lion without weight_decay"] == "param - lr*sign(beta1*m + (1 - beta1)*grad)"
    assert "weight_decay" not in lines["torch.adam"]
    assert "maximize" not in lines["torch.adamw"]
    assert "amsgrad" not in lines["torch.adamw"]
    assert "papers.lion without weight_decay" not in {start.name for start in starts_elsewhere("adam", frozenset())}


@pytest.mark.slow
def test_what_short_runs_do_not_show_is_searched_beside_the_case_that_shows_it_most(monkeypatch):
    """Behind 20 updates the corrections are left out. Edits that change nothing before would be tried on every case."""
    tried = []
    holding = Observed.holding
    monkeypatch.setattr(Observed, "holding", lambda *asked: tried.append(asked) or holding(*asked))
    target = with_hooks("papers.adam", count=lambda count: count if count <= 20 else 10**6)
    cases = list(drawn_cases(subject_named("papers.adam"), "float64", seed=0, count=40))
    observed = Observed.of(target, "papers.adam", "float64", partial(iter, cases), Guard())
    assert searched(observed, 0.0).formulas == ()
    assert len(tried) < 4


def test_a_formula_that_bounds_next_to_nothing_explains_nothing():
    """AMSGrad with ``beta2 -> 1`` divides by what may be 0: it bounds a tenth of RAdam of its authors."""
    document = Agreement(share=4e6, vacuous=14_813, elements=158_931)
    silent, half = (Agreement(vacuous=vacuous, elements=158_931) for vacuous in (142_538, 79_000))
    assert not says_enough(Identity(None, document, silent))
    assert says_enough(Identity(None, document, half))
    assert says_enough(Identity(None, silent, silent)), "the document bounds no more of these runs"


def test_a_start_with_a_number_at_0_uses_its_others_and_is_no_plainer_rule() -> None:
    """AdEMAMix without alpha does not use beta3, AdaMod without beta3 is Adam, QHAdam without shares has no average."""
    starts = {start.name for start in starts_elsewhere("adam", frozenset())}
    assert {"papers.adam", "torch.adamw", "papers.novograd without weight_decay"} <= starts
    without = ("ademamix without alpha and weight_decay", "adamod without beta3", "qhadam without nu1 and nu2")
    assert starts.isdisjoint(f"papers.{name}" for name in (*without, "adamw without weight_decay"))
