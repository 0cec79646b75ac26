"""Splits: properties that can be switched, and two explanations that hold together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.judging.identifying.splitting import TELLING, Splitting, short_cases
from optimetry.conformance.laws import LAWS
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.naming.sides import Unchanged, pairs_of_sides
from optimetry.conformance.naming.splits import ONE_ELEMENT, Property, Split, properties
from optimetry.conformance.numerics.arithmetic import PLAIN
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest.faults import FAULTS, outcome, splits
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.selftest.known_targets import judged
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reports.parts import Part
from optimetry.reports.results import Computes
from tests.conformance.judged import QUICK, begun_by, class_named, dialect_named, verdict_of

MOMENTUM = SUBJECTS["momentum"]
CLASS = documented_class("momentum")


def by(subject: str, **where: Any) -> Property:
    (split,) = (each for each in properties(SUBJECTS[subject]) if each.where[0] == where)
    return split


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_property_is_switched_by_changing_nothing_else(name: str) -> None:
    subject = SUBJECTS[name]
    for each in properties(subject):
        sides_seen = set()
        for case in short_cases(subject, "float32"):
            other = each.switched(case)
            if other is not None:
                assert each.holds(other) != each.holds(case), each.where
                assert subject.of(other.hyper), "inside every domain"
                assert (other.hyper == case.hyper) == each.of_tensors
                sides_seen.add(each.holds(case))
        assert sides_seen == {True, False}, each.where


def test_a_split_by_a_property_of_tensors_has_a_side_for_each_tensor() -> None:
    arrays = tuple(np.array(x, np.float32) for x in ([1.0, 2.0], [3.0], [[4.0, 5.0]]))
    hyper = {"momentum": 0.9, "use_nesterov": False}
    case = Case("momentum", "float32", hyper, (0.1, 0.1), arrays, (arrays, arrays))
    split = Split(ONE_ELEMENT, Unchanged(), Explanation(documented_class("momentum")))
    value, documented = split.expected(case).value, expected(case).value
    np.testing.assert_array_equal(value[:, 2], [3.0, 3.0])
    others = [0, 1, 3, 4]
    np.testing.assert_array_equal(value[:, others], documented[:, others])
    assert (split.expected(case).bound[:, 2] == 0).all()
    single = split.expected(case.only([1]))
    assert (single.value == 3).all()


def test_a_verdict_records_both_sides() -> None:
    verdict = judged(FAULTS["dialect_at_the_default_power"], "float32")
    first = Part("l2_not_doubled", {"property": "lr_power", "is": -0.5})
    second = Part("documented", {"property": "lr_power", "is_not": -0.5})
    assert (verdict.verdict, verdict.dialect) == ("diverges", None)
    assert verdict.computes == Computes(parts=[first, second])
    assert verdict.reason == (
        "computes l2_not_doubled where lr_power is -0.5, and the documented rule where lr_power is not -0.5"
    )


def mixed(test: Any, true: str, false: str | None = None) -> Instead:
    """A target that computes one dialect where the hyperparameters pass a test, and another elsewhere."""

    def begin(documented: Any, parameters: list[Any]) -> Any:
        name = true if test(documented.hyper()) else false
        return run_of(dialect_named("momentum", name).of(documented.hyper()) if name else documented, parameters)

    return Instead(begin, "momentum")


def test_both_sides_may_be_dialects() -> None:
    target = mixed(lambda hyper: hyper["use_nesterov"], "learning_rate_inside", "dampened_after_first_step")
    assert [str(part) for part in verdict_of(target, "momentum").computes.parts] == [
        "learning_rate_inside where use_nesterov is true",
        "dampened_after_first_step where use_nesterov is false",
    ]


def splitting_of(target: Instead) -> Splitting:
    return Splitting(Observed(target, lambda: iter(()), Guard(), Probed("momentum", "float32", ())))


def no_property(hyper: dict[str, Any]) -> bool:
    return bool(hyper["use_nesterov"] and hyper["momentum"] == 0.9)


def far_from_any_property(hyper: dict[str, Any]) -> bool:
    return bool(hyper["momentum"] < 0.4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "elsewhere", "there"),
    [
        (no_property, "momentum is 0.9", "momentum is not 0.9"),
        (far_from_any_property, "step >= 2", "step < 2"),  # without momentum rules that are the same there are no names
    ],
)
def test_a_fault_that_no_single_property_decides_is_not_named(test: Any, elsewhere: str, there: str) -> None:
    computes = verdict_of(mixed(test, "learning_rate_inside"), "momentum", effort=QUICK).computes
    assert computes == Computes(parts=computes.parts)
    assert list(map(str, computes.parts)) == [f"no known rule where {elsewhere}", f"documented where {there}"]


def test_a_property_must_decide_where_it_is_switched() -> None:
    """All but few drawn cases may agree with a property by chance: those made by switching it do not."""
    wrong = by("momentum", property="momentum", **{"is": 0.9})
    true, false = (
        Explanation(class_named("momentum", "learning_rate_inside")),
        Explanation(documented_class("momentum")),
    )
    splitting = splitting_of(mixed(no_property, "learning_rate_inside"))
    agreeing = [case for case in short_cases(MOMENTUM, "float32") if wrong.holds(case) == no_property(case.hyper)]
    assert len(agreeing) > 4 * TELLING
    assert not splitting.supported(Split(wrong, true, false), agreeing)
    right = splitting_of(mixed(lambda hyper: hyper["momentum"] == 0.9, "learning_rate_inside"))
    assert right.supported(Split(wrong, true, false), agreeing)


def test_a_split_needs_cases_that_refute_the_other_side() -> None:
    """The documented rule and itself in another name separate nothing."""
    documented = Explanation(documented_class("momentum"))
    flag = by("momentum", property="use_nesterov", **{"is": True})
    splitting = splitting_of(Instead(run_of))
    assert not splitting.supported(Split(flag, documented, documented), list(short_cases(MOMENTUM, "float32")))


def test_only_a_property_of_shapes_may_break_a_universal_law() -> None:
    flag, few = (
        by("momentum", property="use_nesterov", **{"is": True}),
        by("momentum", property="number of dimensions", less_than=2),
    )
    assert few.may_break(LAWS["reshaping"])
    assert not few.may_break(LAWS["repeatable"])
    assert not flag.may_break(LAWS["reshaping"])
    assert flag.may_break(None)


def test_rules_that_are_near_are_sides_beside_the_documented_one() -> None:
    pairs = [tuple(str(side.part) for side in pair) for pair in pairs_of_sides(SUBJECTS["lamb"], PLAIN)]
    beside = {second for first, second in pairs if first == "documented"}
    assert {"sgd", "adam", "adamax", "no update", "documented with lamb_weight_decay = 0 whatever is given"} <= beside
    assert "adagrad" not in beside, "its initial_accumulator_value is not among the hyperparameters of LAMB"
    named = {dialect.name for dialect in DIALECTS["lamb"]}
    without = {f"{name} with lamb_weight_decay = 0 whatever is given" for name in ("documented", *named)}
    assert {side for pair in pairs if pair[0] != "documented" for side in pair} == named | without
    clips = pairs_of_sides(SUBJECTS["clip_by_norm"], PLAIN)
    assert "no update" not in {str(side.part) for pair in clips for side in pair}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vectors_by_sgd", "betas_swapped"])
def test_a_diagnosis_says_the_same(name: str) -> None:
    fault = FAULTS[name]
    (diagnosis,) = diagnose([fault.target()], fault.optimizer, "float32", effort=QUICK, seed=0)
    assert (outcome(diagnosis.verdict), diagnosis.explanation) == (fault.outcome, None)
    text = report("x", [diagnosis], 0, width=200)
    assert f"float32: DIVERGES, {fault.outcome.removeprefix('diverges: ')}" in text
    assert diagnosis.verdict.reason in text


def test_what_a_target_holds_fixed_leaves_cases_to_split_it_by() -> None:
    """Few drawn tensors without dimensions have no Nesterov, and these alone were not enough."""
    target = begun_by(splits._for_tensors(lambda param: param.ndim < 1, splits._rule("sgd")), "momentum")
    target.pinned = {"momentum": {"use_nesterov": False}}  # type: ignore[attr-defined]
    (few, many) = verdict_of(target, "momentum", effort=QUICK).computes.parts
    assert (str(few), str(many)) == (
        "documented with momentum = 0 where number of dimensions < 1",
        "documented where number of dimensions >= 1",
    )


def test_a_case_that_the_target_fails_on_is_explained_by_nothing() -> None:
    """It must not turn the verdict on what was found before into an error."""

    class Scalars(Instead):
        def start(self, optimizer: str, hyper: Any, parameters: list[Any]) -> Any:
            if any(param.ndim == 0 for param in parameters):
                raise ValueError("no scalars")
            return super().start(optimizer, hyper, parameters)

    target = Scalars(run_of, "momentum")
    cases = short_cases(MOMENTUM, "float32")
    few, documented = by("momentum", property="number of dimensions", less_than=1), Explanation(CLASS)
    assert not splitting_of(target).supported(Split(few, Unchanged(), documented), list(cases))
    assert list(splitting_of(target).splits(PLAIN, [few])) == []
