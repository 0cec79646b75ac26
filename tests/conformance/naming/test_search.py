"""Formulas that nobody has declared: found one edit away, proved within the bound, written for comparison."""

from __future__ import annotations

import re

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.edits.rewritten import Rewritten
from optimetry.conformance.naming.edits.single import Edit, lines_of_slots, replacements_by_slots, replacements_of
from optimetry.conformance.naming.edits.throughout import edits_throughout
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.notation import text_of
from optimetry.conformance.naming.formulas.programs import replaced
from optimetry.conformance.naming.known.points import documented_class, named_classes
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.fed import runs_of
from optimetry.conformance.naming.search.over_edits import edited_formulas
from optimetry.conformance.naming.search.telling import telling_cases
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults.fault import FAULTS
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun
from optimetry.conformance.targets.session import Guard
from optimetry.reference.rule import State
from tests.conformance.deeds import Noise

FEW = Effort("few", 12, 1)

FOUND = {
    "sgd_gradient_squared": "grad -> square(grad)",
    "adagrad_root_of_the_gradient": "lr*grad -> lr*sign(grad)*sqrt(abs(grad))",
    "sgd_restarts_from_zero": "param - lr*grad -> -(lr*grad)",
    "momentum_velocity_starts_at_the_gradient": "initial velocity: 0 -> grad",
    "adam_kept_corrected_and_corrected_again": "moment1 and moment2 kept corrected, and corrected again",
    "adamax_counted_from_zero": "t -> t - 1, and no correction in the first step",
    "guarded_ratio": "grad*clip_norm/maximum(norm(grad), clip_norm) -> "
    "grad*minimum(norm(grad), clip_norm)/(norm(grad) + 1e-07)",
    "lamb_denominator_with_a_small_number": "norm((...)) -> norm((...)) + 1e-06",
    "momentum_gradient_subtracted": "new velocity -> momentum*velocity - grad",
    "adagrad_old_moment": "new moment -> moment in the parameter alone",
    "adagrad_epsilon_squared": "epsilon -> square(epsilon)",
    "adagrad_maximum_for_the_sum": "new moment -> maximum(moment, square(grad))",
    "adagrad_initial_value_is_a_root": "initial moment: initial_accumulator_value -> sqrt(initial_accumulator_value)",
    "decayed_adagrad_divisor_kept_in_place": "moment overwritten by sqrt(new moment) + epsilon",
    "decayed_adagrad_weights_swapped": "decay -> 1 - decay",
    "adadelta_gradient_average_for_both": "rho*avg_squared_update -> rho*avg_squared_grad",
    "adam_beta2_in_the_first_correction": "beta1**t -> beta2**t",
    "adam_gradient_undamped": "(1 - beta1)*grad -> grad",
    "adam_square_of_the_moment": "square(grad) -> square(new moment1)",
    "adamax_absolute_value_missing": "abs(grad) -> grad",
    "rmsprop_learning_rate_twice": "new velocity -> lr*new velocity in the parameter alone",
    "ftrl_threshold_inclusive": "abs(new linear_accum) > l1 -> abs(new linear_accum) >= l1",
    "ftrl_l2_for_the_threshold": "abs(new linear_accum) > l1 -> abs(new linear_accum) > l2",
    "lars_momentum_norms_swapped": "norm(param) and norm(grad) exchanged",
    "lars_momentum_decay_missing_in_the_velocity": "grad + lars_weight_decay*param -> grad",
    "asgd_divided_by_all_batches": "minimum(t, batch_num) -> batch_num",
    "asgd_batch_never_reached": "steps between history: batch_num -> maximum(batch_num - 1, 1)",
    "lamb_ratio_inverted": "lr*(...) -> lr/(...)",
    "upper_end_only": "maximum(grad, min) -> grad",
    "papers.signum_sign_softened": "sign(new m) -> new m/sqrt(square(new m) + 1e-06)",
    "papers.adagrad_gradient_squared_above": "lr*grad -> lr*square(grad)",
    "papers.adabelief_brackets_missing": "(1 - beta1)*grad -> 1 - beta1*grad",
    "papers.adabelief_epsilon_behind_the_quotient": "lr*new m/(1 - beta1**t)/(sqrt(new s/(1 - beta2**t)) + epsilon) -> "
    "lr*(new m/(1 - beta1**t)/sqrt(new s/(1 - beta2**t)) + epsilon)",
    "papers.adabelief_corrections_missing": "no bias correction",
    "papers.adabelief_corrected_in_the_rate": "bias corrected in the learning rate, not in the moments",
    "papers.adam_first_moment_kept_corrected": "m kept corrected",
    "torch.nadam_corrected_as_at_first": "corrected in every step as in the first",
    "softly_clipped": "maximum(norm(grad), clip_norm) -> norm(grad) + clip_norm",
}
"""Planted mutations of one token, each with the edit that must be named."""


def found_in(target, optimizer, budget=None, most_edits=1):
    """The formulas that also explain the probes and a few drawn cases."""
    drawn = drawn_cases(subject_named(optimizer), "float32", seed=0, count=20)
    tried = runs_of(target, (*probes_of(optimizer, "float32"), *drawn), Guard())
    telling = runs_of(target, telling_cases(optimizer, "float32"), Guard())

    def holds(explanation):
        return all(explains(after, explanation.expected(case), case.form) for case, after in tried)

    return edited_formulas([documented_class(optimizer)], telling, holds, budget, most_edits)


@pytest.mark.parametrize("name", FOUND)
def test_a_mutated_formula_is_found_and_written(name):
    fault = FAULTS[name]
    assert found_in(fault.target(), fault.optimizer)[0].name == FOUND[name]


def two_edits(rule, parameters):
    """Adagrad without a square, and with that of epsilon."""

    def update(self, param, grad, state, lr, t):
        moment = state.moment + np.abs(grad)
        return param - lr * grad / (np.sqrt(moment) + np.square(self.epsilon)), State(moment=moment)

    kind = type("Twice", (type(rule),), {"update": update})
    return RuleRun(kind.of(rule.hyper()), parameters)


TWICE_EDITED = Instead(two_edits, "adagrad")


def test_two_edits_are_found_where_one_is_not_enough():
    assert found_in(TWICE_EDITED, "adagrad") == []
    budget = Budget()
    (edited, *_) = found_in(TWICE_EDITED, "adagrad", budget, 2)
    assert [after for _, after in edited.lines] == [
        "param <- param - lr*grad/(sqrt(new moment) + square(epsilon))",
        "moment <- moment + abs(grad)",
    ]
    assert not budget.ended
    assert budget.programs > 100_000


def test_a_search_that_is_ended_says_so_and_keeps_what_was_found():
    budget = Budget(1e-9)
    assert found_in(TWICE_EDITED, "adagrad", budget, 2) == []
    assert budget.ended
    fault = FAULTS["adagrad_old_moment"]
    assert found_in(fault.target(), "adagrad", Budget(1e-9), 2)[0].name == FOUND["adagrad_old_moment"]


def test_an_interrupted_search_keeps_the_nearest_formula_so_far():
    progress = []

    def asked(doing):
        progress.append(doing)
        return "nearest: " in doing

    budget = Budget(asks=asked)
    (edited, *_) = found_in(TWICE_EDITED, "adagrad", budget, 2)
    assert budget.interrupted
    assert budget.ending == f"; the search was interrupted after {budget.programs:,} formulas"
    assert progress[0] == "0 formulas with 1 edit, none is near"
    assert re.fullmatch(r"[\d,]+ formulas with 2 edits, none is near", progress[-2])
    assert progress[-1].endswith(f"nearest: {budget.best}")
    assert edited.lines[1][1] == "moment <- moment + abs(grad)"


def test_a_search_that_is_interrupted_at_once_tries_nothing():
    budget = Budget(asks=lambda doing: True)
    assert found_in(FAULTS["adagrad_old_moment"].target(), "adagrad", budget) == []
    assert (budget.programs, budget.interrupted) == (0, True)


def test_a_verdict_says_that_the_search_was_interrupted_and_no_split_is_sought():
    guard = Guard(searching=lambda doing: "2 edits" in doing)
    (verdict,) = judge([TWICE_EDITED], "adagrad", "float32", effort=FEW, seed=0, guard=guard, search=60.0)
    assert verdict.verdict == "diverges"
    assert re.search(r"; the search was interrupted after [\d,]+ formulas$", verdict.reason)


def test_check_searches_unless_it_is_told_not_to():
    engines = [FAULTS["momentum_gradient_subtracted"].target()]
    (verdict,) = judge(engines, "momentum", "float32", effort=FEW, seed=0)
    assert (verdict.verdict, verdict.dialect, verdict.computes.found) == ("dialect", "found", True)
    assert verdict.computes.formula == FOUND["momentum_gradient_subtracted"]
    (without,) = judge(engines, "momentum", "float32", effort=FEW, seed=0, search=None)
    assert (without.verdict, without.computes.found) == ("diverges", False)
    assert without.law == verdict.law


def test_a_verdict_says_that_the_search_was_ended():
    (verdict,) = judge([TWICE_EDITED], "adagrad", "float32", effort=FEW, seed=0, search=1e-9)
    assert verdict.verdict == "diverges"
    assert "; the search was ended after " in verdict.reason


def test_noise_and_another_algorithm_are_no_edit_of_the_formula():
    assert found_in(Instead(lambda rule, parameters: Noise(parameters), "momentum"), "momentum", None, 2) == []
    adam = Instead(lambda rule, parameters: RuleRun(subject_named("adam").of({}), parameters), "momentum")
    assert found_in(adam, "momentum", None, 2) == []


def test_an_edited_formula_is_evaluated_on_bounds_as_any_other():
    """The class of an edit of one token explains the mutation in float64 too, and not the document."""
    fault = FAULTS["adagrad_epsilon_squared"]
    (edited, *_) = found_in(fault.target(), "adagrad")
    for case, after in runs_of(fault.target(), telling_cases("adagrad", "float64"), Guard()):
        oracle = Explanation(edited.formula).expected(case)
        assert np.all(np.abs(after - oracle.value) <= 2 * oracle.bound)
        assert np.any(np.abs(expected(case).value - oracle.value) > 2 * oracle.bound)


def test_an_average_that_is_not_corrected_has_a_product_of_zero():
    (uncorrected,) = (x for x in named_classes("exponential_moving_average") if x.name == "not_corrected")
    (edited, *_) = found_in(computing(uncorrected), "exponential_moving_average")
    assert edited.name == "product -> 0"


def test_the_lines_that_differ_are_shown_whole():
    fault = FAULTS["adagrad_old_moment"]
    (edited, *_) = found_in(fault.target(), "adagrad")
    assert edited.lines == [
        (
            "param <- param - lr*grad/(sqrt(new moment) + epsilon)",
            "param <- param - lr*grad/(sqrt(moment) + epsilon)",
        )
    ]


def test_the_document_itself_is_no_edit():
    assert found_in(NumpyTarget(), "adagrad") == []


def test_what_may_stand_in_the_place_of_a_part():
    program = {"param": ("subtract", "param", "slot"), "slot": ("multiply", "beta", "slot"), "initial slot": 0.0}
    assert {0.0, 1.0, ("subtract", 1, "beta")} <= set(replacements_of("beta", InputNames(("slot",), ("beta",))))
    assert list(replacements_by_slots("slot", lines_of_slots(program))) == [program["slot"]]
    assert Edit(0.0, "beta", ("initial slot",)) in list(edits_throughout(program, ["beta"]))
    assert Edit("slot", 0.0, ("param",)).applied(program) == {**program, "param": ("subtract", "param", 0.0)}


def test_a_slot_may_begin_with_what_is_first_added_to_it():
    """What else it is made of is at its own beginning then; the gradient alone is tried in any case."""
    added = ("divide", "grad", ("sqrt", "square"))
    program = {
        "param": ("subtract", "param", "slot"),
        "slot": ("add", ("multiply", "beta", "slot"), added),
        "square": ("add", ("multiply", "rho", "square"), "grad"),
        "initial slot": 0.0,
        "initial square": 1.0,
    }
    begun = [edit for edit in edits_throughout(program, []) if isinstance(edit, Rewritten) and "begins" in edit.words]
    assert begun == [
        Rewritten((("initial slot", ("divide", "grad", ("sqrt", 1.0))),), "slot begins with what is first added to it")
    ]


def test_two_parts_take_each_others_place():
    edit = Edit("a", ("sqrt", "b"), ("param",), exchanged=True)
    assert edit.applied({"param": ("add", ("sqrt", "b"), "a")}) == {"param": ("add", "a", ("sqrt", "b"))}


def test_parts_are_replaced_wherever_they_stand():
    shared = ("square", "grad")
    assert replaced(("add", shared, ("sqrt", shared)), shared, "grad") == ("add", "grad", ("sqrt", "grad"))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (("subtract", "a", ("subtract", "b", "c")), "a - (b - c)"),
        (("divide", "a", ("multiply", "b", "c")), "a/(b*c)"),
        (("multiply", ("add", "a", 1), ("power", "b", "t")), "(a + 1)*b**t"),
        (("power", "a", ("negative", "p")), "a**(-p)"),
        (("sqrt", ("sum", ("square", "w"))), "norm(w)"),
    ],
)
def test_formulas_are_written_with_the_parentheses_they_need(expression, text):
    assert text_of(expression) == text
