"""Formulas that explain a target equally: told apart by what it takes, or reported with the case that would do it."""

from __future__ import annotations

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.offered import UNLIMITED
from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.naming.edits.single import Edit
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.search.edited import Edited
from optimetry.conformance.naming.search.rivals import candidates_of, same, told_apart
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.selftest.instead import Instead, computing
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.rule import State

FEW = Effort("few", 12, 1)
CASES = candidates_of("adagrad", "float32", UNLIMITED)
LINE = ("add", ("sqrt", ("add", "moment", ("square", "grad"))), "epsilon")


def edited(old, new):
    start = documented_class("adagrad")
    return Edited(start, (Edit(old, new, ("param",)),), {"epsilon": 1e-6, "initial_accumulator_value": 0.0})


SQUARED = edited("epsilon", ("square", "epsilon"))
TURNED = edited(LINE, ("add", ("square", "epsilon"), LINE[1]))
ROOT = edited("epsilon", ("sqrt", "epsilon"))


def names(outcome):
    left, rivals = outcome
    return [formula.changes for formula in left], [rival.formula.changes for rival in rivals]


def test_formulas_that_are_the_same_are_one():
    assert names(told_apart([SQUARED, TURNED], CASES, lambda case: False, lambda formula, case: False)) == (
        [SQUARED.changes, TURNED.changes],
        [],
    )


def test_the_same_formula_in_another_order_is_the_same():
    assert same(SQUARED, TURNED, CASES)
    assert not same(SQUARED, ROOT, CASES)


@pytest.mark.parametrize(("computed", "left"), [(SQUARED, [SQUARED]), (ROOT, [ROOT])])
def test_what_a_target_takes_decides(computed, left):
    target = computing(computed.formula)

    def refuted(formula, case):
        return not explains(trajectory(target, case, Guard()), formula.explanation.expected(case), case.form)

    assert told_apart([SQUARED, ROOT], CASES, lambda case: True, refuted) == (left, [])


def test_a_formula_that_what_tells_it_from_another_contradicts_is_none():
    assert told_apart([SQUARED, ROOT], CASES, lambda case: True, lambda formula, case: True) == ([], [])


def test_what_a_target_does_not_take_is_shown_with_both_numbers():
    left, (rival,) = told_apart([SQUARED, ROOT], CASES, lambda case: False, lambda formula, case: True)
    assert (left, rival.formula) == ([SQUARED, ROOT], ROOT)
    telling = rival.telling
    assert telling is not None
    assert telling.case.size == len(telling.case.grads) == 1
    for formula, value in zip((SQUARED, ROOT), telling.values, strict=True):
        after = trajectory(computing(formula.formula), telling.case, Guard())
        assert after[telling.step - 1, telling.element] == pytest.approx(value, rel=1e-6)
    assert telling.values[0] != pytest.approx(telling.values[1], rel=1e-3)


def test_a_difference_below_rounding_is_told_by_no_case():
    tiny = edited(LINE, ("add", LINE, 1e-9))
    cases = [case for case in CASES if case.hyper["epsilon"] > 1e-3]
    assert cases
    left, (rival,) = told_apart([edited(LINE, ("add", LINE, 2e-9)), tiny], cases, lambda case: True, lambda *_: True)
    assert (len(left), rival.formula, rival.telling) == (2, tiny, None)


class DecaysTheNew(RuleRun):
    """Adam with the new gradient multiplied by the second decay, too."""

    def __init__(self, rule, parameters):
        def update(self, param, grad, state, lr, t):
            moment1 = self.beta1 * state.moment1 + self.beta2 * (1 - self.beta1) * grad
            moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * grad * grad
            lr = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
            return param - lr * moment1 / (np.sqrt(moment2) + self.epsilon), State(moment1=moment1, moment2=moment2)

        kind = type("Decays", (subject_named("adam").declaration,), {"update": update})
        super().__init__(kind.of(rule.hyper()), parameters)


def test_a_report_names_what_explains_a_target_equally_and_the_case_that_would_tell():
    target = Instead(DecaysTheNew, "adam")
    target.pinned = {"adam": {"beta1": 0.8125, "beta2": 0.8125}}  # a constant of more digits than is solved for
    diagnoses = diagnose([target], "adam", "float32", effort=FEW, seed=0)
    assert "; explained equally by " in diagnoses[0].verdict.reason
    text = " ".join(report("", diagnoses, 0).split())
    assert "found: (1 - beta1)*grad -> beta1*(1 - beta1)*grad" in text
    assert "explained equally by: (...)/(sqrt(new moment2) + epsilon) -> beta2*(...)/(sqrt(new moment2) +" in text
    assert "not offered by the target, this case would tell them apart: beta1 0.0" in text
    assert "found, step 1, element 0 1 the other, step 1, element 0 0.93" in text
