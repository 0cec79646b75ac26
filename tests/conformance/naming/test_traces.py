"""Traces: a rule or a wrapper as an expression, on every path of its branches, which computes what it does."""

from __future__ import annotations

import numpy as np
import pytest

from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.edits.single import Edit
from optimetry.conformance.naming.families.compression import rounded_up
from optimetry.conformance.naming.formulas.branches import answered, on_every_path
from optimetry.conformance.naming.formulas.evaluated import (
    fed_through,
    first_state,
    sent_of_rows,
    shared,
    updated,
    value_of,
)
from optimetry.conformance.naming.formulas.notation import text_of
from optimetry.conformance.naming.formulas.programs import program_of
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.naming.search.edited import Edited
from optimetry.conformance.naming.search.telling import telling_cases
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.wrappers.compression import are_sent
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import State

TRACED = [name for name, subject in SUBJECTS.items() if isinstance(subject, RuleSubject) and not subject.shaped]
"""The rules that take no rows and columns apart."""


def listed(state):
    """The numbers of every slot; one number of the whole parameter stands for each element."""
    return {slot: (x if np.ndim(x) else np.full((2, 3), x)).tolist() for slot, x in state.items()}


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("optimizer", TRACED)
def test_a_traced_update_computes_what_the_rule_does(optimizer, step):
    case = next(
        iter(probes_of(optimizer, "float64") or drawn_cases(subject_named(optimizer), "float64", seed=0, count=1))
    )
    rule = subject_named(optimizer).of(case.hyper)
    param, grad = (np.linspace(low, 2.0, 6).reshape(2, 3) for low in (-1.0, 0.5))
    slots = {slot: np.abs(param) + 0.25 + x for slot, x in rule.initial_state(param).items()}
    arguments = param, grad, State(**slots), 0.3, step
    program = program_of(rule)
    after, state = updated(shared(program), vars(rule), *arguments)
    must, must_state = rule.update(*arguments)
    assert np.array_equal(after, must)
    assert listed(state) == listed(must_state)
    assert listed(first_state(program, vars(rule), param)) == listed(rule.initial_state(param))


def test_of_two_branches_the_one_that_a_flag_chooses_is_evaluated_alone():
    inputs = {"param": 2.0, "flag": True, "other": False}
    assert value_of(("where", "flag", "param", "missing"), inputs, {}) == 2.0
    assert value_of(("where", "other", "missing", "param"), inputs, {}) == 2.0


def test_a_number_divided_by_itself_is_exactly_1_and_an_array_is_not():
    """In place of ``1 - momentum`` a search writes it over itself; its bound, where it is 0.1, covered other faults."""
    decay = Bounded.scalar(0.9, FORMATS["float32"])
    program = shared({"x": ("divide", ("subtract", 1, "b"), ("subtract", 1, "b"))})
    one = value_of(program["x"], {"b": decay}, {})
    assert (one.value, one.bound, value_of(program["x"], {"b": 0.9}, {})) == (1, 0, 1)
    with np.errstate(invalid="ignore"):
        assert np.isnan(value_of(program["x"], {"b": np.ones(2)}, {})).all()


def test_of_a_slot_with_an_entry_for_each_batch_the_one_of_the_step_is_traced():
    program = program_of(subject_named("asgd").of({"batch_num": 3}))
    assert text_of(program["d"]) == "d + grad - history"
    assert (program["history"], program["steps between history"]) == ("grad", "batch_num")


WRAPPED = {
    "dgc_compress": {"momentum": 0.5, "sparsity": 0.5, "use_nesterov": True},
    "model_average": {"average_window_rate": 0.7, "min_average_window": 1, "max_average_window": 3},
    "exponential_moving_average": {"decay": 0.9, "scheduled": True},
    "clip_by_norm": {"clip_norm": 1.0},
    "clip_by_global_norm": {"clip_norm": 1.0},
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_traced_wrapper_computes_what_it_does(name):
    wrapper = subject_named(name).of(WRAPPED[name])
    program = shared(program_of(wrapper))
    rng = np.random.default_rng(0)
    parameters, state, traced_state = [np.ones(5), np.ones(3)], None, None
    for _ in range(6):
        fed = [rng.normal(size=5), rng.normal(size=3)]
        must, state = wrapper.feed(fed, parameters, state)
        traced, traced_state = fed_through(program, vars(wrapper), fed, parameters, traced_state)
        assert all(np.allclose(a, b, rtol=1e-14, atol=0) for a, b in zip(traced, must, strict=True))


def test_entries_that_are_sent_are_the_same_evaluated_together_or_alone():
    rows = np.random.default_rng(1).normal(size=(4, 10))
    for sparsity in (0.0, 0.5, 0.75, 0.9, 0.999):
        assert np.array_equal(sent_of_rows(rows, sparsity), [are_sent(row, sparsity) for row in rows])
        up = [are_sent(row, sparsity, rounded_up) for row in rows]
        assert np.array_equal(sent_of_rows(rows, sparsity, up=True), up)


def test_every_branch_is_followed_once_and_joined():
    def compute():
        taken = answered(("greater", "a", 0)) and answered(("greater", "b", 0))
        again = answered(("greater", "a", 0))
        return {"param": 1.0 if taken else 2.0, "slot": "a" if again else "b", "same": "c"}

    assert on_every_path(compute) == {
        "param": ("where", ("bitwise_and", ("greater", "a", 0), ("greater", "b", 0)), 1.0, 2.0),
        "slot": ("where", ("greater", "a", 0), "a", "b"),
        "same": "c",
    }
    assert on_every_path(lambda: {"param": float(answered(("equal", "a", 0)))}) == {"param": 0.0}


def test_of_a_rule_the_branches_of_its_steps_are_followed_alone():
    def compute():
        return {"param": float(answered(("greater", "a", 0))), "slot": 1.0 if answered(("equal", "t", 1)) else "slot"}

    assert on_every_path(compute, about="t") == {"param": 1.0, "slot": ("where", ("equal", "t", 1), 1.0, "slot")}
    traced = program_of(subject_named("torch.asgd").of({}))  # the rate of the first step stands in both uses of it
    assert text_of(traced["param"]).count("where(t > 1, eta, lr)") == 2
    assert answered("anything")  # outside of both


def test_what_an_average_keeps_is_traced_and_written_as_of_parameters():
    """Its count of updates is the step's number, and the product of decays is kept beside the averages."""
    program = program_of(subject_named("exponential_moving_average").of({}))
    assert {"product", "biased"} == {
        name for name in program if name not in ("param", "initial product", "initial biased")
    }
    assert (program["initial product"], program["initial biased"]) == (1.0, 0.0)
    start = documented_class("exponential_moving_average")
    at_first = Edited(start, (Edit(0.0, "grad", ("initial biased",)),), {"decay": 0.5, "scheduled": False})
    assert at_first.name == "initial biased: 0 -> param"


def test_an_average_over_windows_counts_in_a_slot_and_its_steps_by_the_step():
    program = program_of(subject_named("model_average").of({"average_window_rate": 0.5}))
    full = "in_window + 1 >= min_average_window and in_window + 1 >= minimum(max_average_window, t*average_window_rate)"
    assert text_of(program["in_window"]) == f"where({full}, 0, in_window + 1)"
    assert "updates" not in program


def test_an_average_that_begins_with_the_first_parameters_is_evaluated_as_it_is_written():
    start = documented_class("exponential_moving_average")
    edits = (Edit("product", 0.0, ("param", "product")), Edit(0.0, "grad", ("initial biased",)))
    case = telling_cases("exponential_moving_average", "float64")[0]
    formula = Edited(start, edits, case.hyper).explanation
    after = trajectory(computing(formula.rule), case, Guard())
    average = case.grads[0][0]
    decay = case.hyper["decay"]
    for step, (fed, *_) in enumerate(case.grads):
        used = min(decay, (1 + step) / (10 + step)) if case.hyper["scheduled"] else decay
        average = used * average + (1 - used) * fed
        assert after[step, : fed.size] == pytest.approx(average, rel=1e-12)
    assert explains(after, formula.expected(case), case.form)


def test_a_flag_chooses_between_the_branches_of_the_formula():
    program = program_of(subject_named("momentum").of({"momentum": 0.5}))
    assert text_of(program["param"], {program["velocity"]: "v"}) == (
        "param - lr*where(use_nesterov, grad + momentum*v, v)"
    )
    assert program["initial velocity"] == 0.0
