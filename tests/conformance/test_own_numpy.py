"""Classes and functions in NumPy, judged in one line."""

from __future__ import annotations

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_numpy
from tests.conformance import classes_for_numpy as mine

FEW = Effort("few", 12, 2)


def judged(target, rule):
    (verdict,) = judge([target], rule, "float32", effort=FEW, seed=0, search=None)
    return verdict


@pytest.mark.parametrize(
    ("name", "rule", "given", "untried"),
    [
        ("OfParameters", "momentum", {"mu": "momentum"}, []),
        ("OfLists", "sgd", {}, ["missing gradients"]),
        ("NeverEmpty", "sgd", {}, ["missing gradients", "empty parameters"]),
        ("OfArrays", "decayed_adagrad", {}, []),
        ("RateOfTheStep", "decayed_adagrad", {"step_length": "learning_rate"}, []),
        ("closure", "momentum", {}, []),
    ],
)
def test_a_class_of_each_form_is_judged(name, rule, given, untried):
    verdict = judged(for_numpy(getattr(mine, name), **{rule: given}), rule)
    assert (verdict.verdict, verdict.untried) == ("conforms", untried)


def test_a_value_that_a_constructor_refuses_is_not_tried():
    target = for_numpy(mine.Picky, momentum={"mu": "momentum"})
    asked = {"momentum": 0.0, "use_nesterov": True}
    assert target.unsupported("momentum", asked, "float32") == "Picky refuses it: nesterov needs a momentum"
    assert judged(target, "momentum").verdict == "conforms"


def test_a_faulty_class_is_named():
    verdict = judged(for_numpy(mine.NeverNesterov, momentum={"mu": "momentum"}), "momentum")
    assert verdict.verdict != "conforms"
    assert "use_nesterov" in verdict.reason
