"""One element worked through two formulas: the numbers are those of the formulas, and add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.commands.text.diagnosis_text import worked_text
from optimetry.conformance.judging.counterexamples import traced
from optimetry.conformance.judging.counterexamples.traced import NotTraceable, TracedNumber, differences, on_the_way
from optimetry.conformance.judging.counterexamples.worked import Quantity, Worked, worked
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.selftest.known_targets import FOUR_CASES
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard
from tests.conformance.judged import class_named


def of_dialect(optimizer: str, name: str) -> Worked:
    point_class = class_named(optimizer, name)
    example = worked(computing(point_class), probes_of(optimizer, "float64"), Explanation(point_class), name, Guard())
    assert example is not None
    return example


def row(rows: tuple[Quantity, ...], name: str) -> Quantity:
    (only,) = (each for each in rows if each.what == name)
    return only


def test_what_two_formulas_compute_differently_stands_side_by_side() -> None:
    example = of_dialect("adam", "scaled_epsilon")
    assert [each.what for each in example.given] == ["lr", "param", "grad", "moment1", "moment2"]
    only = row(example.between, "sqrt(new moment2) + epsilon")
    assert only.other is None
    v, epsilon = row(example.after, "new moment2").documented, example.divergence.case.hyper["epsilon"]
    assert v is not None
    assert only.documented == pytest.approx(np.sqrt(v) + epsilon)
    before, after = (row(rows, what) for rows, what in ((example.given, "param"), (example.after, "new param")))
    steps = [each for each in example.between if each.what.startswith("[") and "new moment1" in each.what]
    assert before.documented is not None
    assert steps[0].documented is not None
    assert after.documented == pytest.approx(before.documented - steps[0].documented)
    assert after.other == pytest.approx(example.divergence.given)
    assert after.documented == pytest.approx(example.divergence.expected)


def test_a_new_slot_is_printed_before_the_expressions_that_it_enters() -> None:
    text = "\n".join(worked_text(of_dialect("adam", "scaled_epsilon"), 200))
    assert text.index("\n  new moment2 ") < text.index("sqrt(new moment2)")
    assert text.index("\n  new moment1 ") < text.index("*new moment1")
    assert "0.10000000000000001" not in text


def test_a_quantity_in_both_formulas_has_both_numbers() -> None:
    example = of_dialect("rmsprop", "initial_value")
    assert row(example.given, "mean_square") == Quantity("mean_square", 0.0, 1.0)
    both = row(example.between, "rho*mean_square")
    assert (both.documented, both.other) == (0.0, example.divergence.case.hyper["rho"])


def test_long_expressions_are_numbered_and_shown_where_they_are_needed() -> None:
    long = ("add", ("multiply", "learning_rate", "moment1"), ("multiply", "decay", "moment2"))
    rows = differences({long: 2.0, ("sqrt", long): 4.0}, {long: 2.0, ("square", long): 8.0})
    name = "learning_rate*moment1 + decay*moment2"
    assert rows == [(f"[1] = {name}", 2.0, 2.0), ("sqrt([1])", 4.0, None), ("square([1])", None, 8.0)]
    assert differences({long: 2.0}, {long: 2.0}) == []


def test_expressions_are_numbered_from_1_among_those_that_are_shown() -> None:
    hidden = ("add", ("multiply", "learning_rate", "moment1"), ("multiply", "decay", "moment2"))
    needed = ("add", ("multiply", "learning_rate", "moment2"), ("multiply", "decay", "moment1"))
    both = {hidden: 2.0, needed: 3.0}
    rows = differences({**both, ("sqrt", needed): 4.0}, both)
    assert rows == [("[1] = learning_rate*moment2 + decay*moment1", 3.0, 3.0), ("sqrt([1])", 4.0, None)]


def test_functions_are_noted_by_their_names_as_operations_are() -> None:
    noted: list[Any] = []
    x = TracedNumber(np.array([3.0]), "x", noted)
    assert np.sum(x * x).value == 9.0
    assert [expression for expression, _ in noted] == [("multiply", "x", "x"), ("sum", ("multiply", "x", "x"))]


def test_what_is_no_number_of_the_formula_is_not_traced() -> None:
    with pytest.raises(NotTraceable, match="multiply has an operand"):
        TracedNumber(1.0, "x", []) * np.ones(2)
    example = of_dialect("asgd", "decay_in_history")
    assert example.between == ()
    assert example.divergence.slot == "d"


def test_a_mistake_of_the_tracer_is_not_taken_for_what_cannot_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    sgd, inputs = SUBJECTS["sgd"].declaration.typical(), {"param": np.ones(()), "grad": np.ones(())}
    assert on_the_way(sgd, inputs, 0.1, 1, float)
    monkeypatch.setattr(traced, "_expression", lambda operand: operand.no_such_name)
    with pytest.raises(AttributeError, match="no_such_name"):
        on_the_way(sgd, inputs, 0.1, 1, float)


def test_a_run_that_skips_an_update_is_shown_without_its_gradient() -> None:
    skipped = next(
        each
        for each in mistakes_of_runs(SUBJECTS["adagrad"], "float32")[0]
        if each.run == {"finding": "skipped_steps", "which": "every 2nd update"}
    )
    other = Mistaken(Explanation(documented_class("adagrad")), skipped)
    target = FAULTS["every_second_update_skipped"].target()
    cases = [
        case.replace(hyper={**case.hyper, "initial_accumulator_value": 0.1}) for case in probes_of("adagrad", "float32")
    ]
    example = worked(target, cases, other, "skips", Guard())
    assert example is not None
    assert example.divergence.step == 2
    assert row(example.given, "grad").other is None
    assert row(example.given, "param").other == row(example.after, "new param").other
    text = "\n".join(worked_text(example, 100))
    assert "first divergence at step 2" in text
    assert "moment, returned" in text


def test_what_conforms_has_no_difference_to_work_through() -> None:
    explanation: Any = Explanation(documented_class("adam"))
    assert worked(NumpyTarget(), probes_of("adam", "float32"), explanation, "", Guard()) is None


def test_what_outlives_a_run_is_not_worked_within_one() -> None:
    fault = FAULTS["velocity_outlives_runs"]
    (diagnosis,) = diagnose([fault.target()], fault.optimizer, "float32", effort=FOUR_CASES, seed=0)
    assert diagnosis.verdict.reason.endswith("starts with the state that the run before it ended with")
    assert diagnosis.worked is None
