"""Formulas that nobody has declared: found one edit away, proved within the bound, written for comparison."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.edits import Edit, edits_of
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import documented_class
from optimetry.conformance.naming.probes import probes_of
from optimetry.conformance.naming.programs import program_of, replaced, text_of, updated
from optimetry.conformance.naming.search import edited_formulas
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults.fault import FAULTS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import RULES, State

FOUND = {
    "sgd_gradient_squared": "grad -> square(grad)",
    "momentum_gradient_subtracted": "new velocity -> momentum*velocity - grad",
    "adagrad_old_moment": "new moment -> moment in the parameter alone",
    "adagrad_epsilon_squared": "epsilon -> square(epsilon)",
    "decayed_adagrad_weights_swapped": "decay -> 1 - decay",
    "adadelta_gradient_average_for_both": "rho*avg_squared_update -> rho*avg_squared_grad",
    "adam_beta2_in_the_first_correction": "beta1**t -> beta2**t",
    "adam_gradient_undamped": "(1 - beta1)*grad -> grad",
    "adamax_epsilon_decays": "beta2*inf_norm + epsilon -> beta2*(inf_norm + epsilon)",
    "lars_momentum_decay_missing_in_the_velocity": "grad + lars_weight_decay*param -> grad",
}
"""Planted mutations of one token, each with the edit that must be named."""

# No single edit of the formula: the maximum of a slot and a square, and a slot that begins elsewhere.
NOT_FOUND = ("adagrad_maximum_for_the_sum", "adagrad_initial_value_ignored")


def runs_of(target, optimizer, dtype="float32"):
    cases = probes_of(optimizer, dtype) or tuple(
        islice(drawn_cases(subject_named(optimizer), dtype, seed=0, count=50), 3)
    )
    return [(case, trajectory(target, case, Guard())) for case in cases]


@pytest.mark.parametrize("name", FOUND)
def test_a_mutated_formula_is_found_and_written(name):
    fault = FAULTS[name]
    found = edited_formulas([documented_class(fault.optimizer)], runs_of(fault.target(), fault.optimizer))
    assert found[0].formula.name == FOUND[name]


@pytest.mark.parametrize("name", NOT_FOUND)
def test_what_is_no_single_edit_is_not_named(name):
    fault = FAULTS[name]
    assert edited_formulas([documented_class(fault.optimizer)], runs_of(fault.target(), fault.optimizer)) == []


@pytest.mark.parametrize("optimizer", [name for name in RULES if name != "asgd"])
def test_a_traced_update_computes_what_the_rule_does(optimizer):
    case = next(
        iter(probes_of(optimizer, "float64") or drawn_cases(subject_named(optimizer), "float64", seed=0, count=1))
    )
    rule = subject_named(optimizer).of(case.hyper)
    param, grad = (np.linspace(low, 2.0, 6).reshape(2, 3) for low in (-1.0, 0.5))
    slots = {slot: np.abs(param) + 0.25 for slot in rule.slots}
    given = param, grad, State(**slots), 0.3, 3
    after, state = updated(program_of(rule), vars(rule), *given)
    must, must_state = rule.update(*given)
    assert np.array_equal(after, must)
    assert {slot: x.tolist() for slot, x in state.items()} == {slot: x.tolist() for slot, x in must_state.items()}


def test_a_rule_that_counts_its_batches_is_not_traced():
    assert program_of(subject_named("asgd").of({})) is None


def test_an_edited_formula_is_evaluated_on_bounds_as_any_other():
    """The class of an edit of one token explains the mutation in float64 too, and not the document."""
    fault = FAULTS["adagrad_epsilon_squared"]
    (found, *_) = edited_formulas([documented_class("adagrad")], runs_of(fault.target(), "adagrad"))
    for case, after in runs_of(fault.target(), "adagrad", "float64"):
        oracle = Explanation(found.formula).expected(case)
        assert np.all(np.abs(after - oracle.value) <= 2 * oracle.bound)
        assert np.any(np.abs(expected(case).value - oracle.value) > 2 * oracle.bound)


def test_the_lines_that_differ_are_shown_whole():
    fault = FAULTS["adagrad_old_moment"]
    (found, *_) = edited_formulas([documented_class("adagrad")], runs_of(fault.target(), "adagrad"))
    assert found.lines == [
        (
            "param <- param - lr*grad/(sqrt(new moment) + epsilon)",
            "param <- param - lr*grad/(sqrt(moment) + epsilon)",
        )
    ]


def test_the_document_itself_is_no_edit():
    assert edited_formulas([documented_class("adagrad")], runs_of(NumpyTarget(), "adagrad")) == []


def test_edits_replace_in_one_output_or_in_all():
    program = {"param": ("subtract", "param", "slot"), "slot": ("multiply", "beta", "slot")}
    edits = list(edits_of(program, ["beta"]))
    assert Edit("slot", 0.0, ("param", "slot")) in edits
    assert Edit("slot", 0.0, ("param",)).applied(program) == {**program, "param": ("subtract", "param", 0.0)}
    assert Edit("beta", 1.0, ("slot",)) in edits


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
