"""Points of families in classes: what is stored holds against fresh evaluations, and names belong to one class each."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance.naming.families import DIALECTS, FAMILIES
from optimetry.conformance.naming.families.family import MOST_WITH_RARE, axes
from optimetry.conformance.naming.known import points
from optimetry.conformance.naming.known.points import (
    DOCUMENTED,
    PointClass,
    at,
    classes_of,
    decoded,
    documented_class,
    encoded,
    merged,
    points_of,
    stored,
)
from optimetry.conformance.naming.known.probe_search import SETTINGS, pool, telling_cases
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.reference.errors import UnknownOptimizerError
from tests.conformance.judged import class_named, dialect_named

# Of these, points are many or slow to evaluate: the others are held against all that the search looks at.
LARGE = ("adam", "lars_momentum", "lamb")
SMALL = [name for name in FAMILIES if name not in LARGE]


def class_of(optimizer: str, **point: str) -> PointClass:
    (point_class,) = (point_class for point_class in classes_of(optimizer) if point in point_class.points)
    return point_class


@pytest.mark.parametrize("name", FAMILIES)
def test_every_point_is_in_one_class(name: str) -> None:
    points = [tuple(sorted(point.items())) for point_class in classes_of(name) for point in point_class.points]
    assert len(set(points)) == len(points)
    assert set(points) == {tuple(sorted(point.items())) for point in points_of(name)}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_combination_is_a_point_but_for_those_of_rare_values_with_many_others(name: str) -> None:
    """Those of declared dialects are points all the same."""
    declared = axes(FAMILIES[name])
    rare = {(axis.name, value) for axis in declared.values() for value in axis.rare}
    named = [dialect.point for dialect in DIALECTS[name]]
    assert all(point in points_of(name) for point in named)
    points = [point for point in points_of(name) if point not in named]
    common = [point for point in points if not rare & point.items()]
    every = prod(len(axis.values) - len(axis.rare) for axis in declared.values())
    assert len(common) == every - sum(not rare & point.items() for point in named)
    assert all({axis: value} in points_of(name) for axis, value in rare)
    assert max((len(point) for point in points if rare & point.items()), default=0) in (0, MOST_WITH_RARE)
    assert max((len(rare & point.items()) for point in points), default=0) == bool(rare)


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_documented_class_comes_first_and_is_alone_with_its_name(name: str) -> None:
    first, *others = classes_of(name)
    assert first.documented
    assert (first.name, first.point) == (DOCUMENTED, {})
    assert not any(point_class.documented for point_class in others)
    names = [point_class.name for point_class in classes_of(name)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", FAMILIES)
def test_named_dialects_never_share_a_class(name: str) -> None:
    named = {point_class.dialect.name: point_class for point_class in classes_of(name) if point_class.dialect}
    assert sorted(named) == sorted(dialect.name for dialect in DIALECTS[name])
    for dialect in DIALECTS[name]:
        assert dialect.point in named[dialect.name].points
        assert named[dialect.name].point == dialect.point
        assert sum(dialect.point in point_class.points for point_class in classes_of(name)) == 1


@pytest.mark.parametrize("name", SMALL)
def test_stored_classes_are_what_the_cases_do_not_tell_apart(name: str) -> None:
    cases = (case.only(range(min(len(case.parameters), 30))) for case in telling_cases(name, drawn=3))
    assert sorted(merged(name, cases), key=str) == sorted(stored()[name], key=str)  # in whatever order they split


@pytest.mark.parametrize("name", LARGE)
def test_points_of_a_large_family_in_one_class_agree(name: str) -> None:
    """On part of the pools; the probes prove the classes different in full."""
    cases = [pool(name, number, "float64").only(range(16)) for number in range(len(SETTINGS[name]))]
    rivals = [group for group in stored()[name] if len(group) > 1]
    assert rivals
    assert [merged(name, cases, group) for group in rivals] == [[group] for group in rivals]


def test_points_of_adam_in_different_classes_do_not_agree() -> None:
    case, groups = pool("adam", 0, "float64").only(range(40)), stored()["adam"]
    assert len(merged("adam", [case], [group[0] for group in groups[:60]])) == 60


@pytest.mark.parametrize("name", FAMILIES)
def test_equal_points_are_not_merely_vacuous(name: str) -> None:
    """A point of which nothing is known contradicts no other; in some pool each has numbers, or surely none."""
    cases = [pool(name, number, "float64").only(range(20)) for number in range(len(SETTINGS[name]))]
    for point_class in classes_of(name):
        for point in point_class.points if len(point_class.points) > 1 else ():
            oracles = [expected(case, at(name, point, case.hyper)) for case in cases]
            known = [np.isfinite(x.bound) | ~np.isfinite(x.value) for x in oracles]
            assert max(map(np.mean, known)) > 0.9


def test_a_case_without_elements_separates_nothing() -> None:
    nothing = pool("adagrad", 0, "float64").only([0])
    assert merged("adagrad", [nothing.each(lambda array: array[:0])]) == [points_of("adagrad")]


def test_equal_combinations_are_one_class() -> None:
    """Without corrections their count does not matter, nor whether epsilon or the maximum comes before them."""
    none = {"moment1_correction": "none", "moment2_correction": "none"}
    uncorrected = class_of("adam", **none)
    assert uncorrected.name == "uncorrected"
    for more in ({"correction_count": "t+1"}, {"correction_count": "t-1"}, {"epsilon_placement": "scaled"}):
        assert class_of("adam", **none, **more) is uncorrected
    maxima = [class_of("adam", **none, amsgrad=value) for value in ("before_correction", "after_correction")]
    assert maxima[0] is maxima[1] is not uncorrected
    # What starts with 0/0 has no number ever after, whatever else it does.
    assert class_of("adam", correction_count="t-1", decay="with_lr").name == "count_behind"
    # FTRL's division by zero needs a zero l2 and no squares.
    assert class_of("ftrl", added_to_strengths="1e-10", small_linear="divided").name == "strengths_enlarged"
    assert class_of("ftrl", small_linear="divided").name == "divided_everywhere"


def test_a_dialect_at_no_point_is_a_class_of_its_own() -> None:
    point_class = class_named("clip_by_norm", "always_scaled")
    assert (point_class.point, point_class.documented, point_class.differences) == ({}, False, [])
    assert point_class.difference == dialect_named("clip_by_norm", "always_scaled").difference
    assert point_class.of({"clip_norm": 2.0}) == dialect_named("clip_by_norm", "always_scaled").of({"clip_norm": 2.0})


@pytest.mark.parametrize("name", ["sgd", "clip_by_value", "l1_decay"])
def test_a_subject_of_which_nothing_else_is_known_is_one_class(name: str) -> None:
    (only,) = classes_of(name)
    assert only == documented_class(name)
    assert only.of(required(name)) == subject_named(name).of(required(name))


def required(name: str) -> dict[str, object]:
    return {x.name: x.corners[0] for x in subject_named(name).hyperparameters() if x.default is None}


def test_an_unnamed_class_is_named_by_its_axes() -> None:
    point_class = class_of("adam", epsilon_placement="inside", decay="with_lr")
    assert point_class.name == "epsilon_placement=inside, decay=with_lr"
    assert (point_class.dialect, point_class.documented) == (None, False)
    assert point_class.difference == "sqrt(v + eps); w also loses lr*wd*w"
    rule = point_class.of({"epsilon": 0.1})
    assert (rule.hyper()["epsilon"], getattr(rule, "epsilon_placement")) == (0.1, "inside")  # noqa: B009


def test_classes_survive_being_written_and_read() -> None:
    text = Path(points.__file__).with_name("classes.json").read_text(encoding="utf-8")
    assert encoded(stored()) == text, "one group a line"
    assert decoded(text) == stored()
    assert set(stored()) == set(FAMILIES) == set(SETTINGS)


def test_an_unknown_rule_has_no_classes() -> None:
    with pytest.raises(UnknownOptimizerError, match="unknown optimizer 'adm'"):
        classes_of("adm")
