"""The page that says which faults are named how: its figures are good enough, and it is of this code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.selftest.confusion import (
    COLUMNS,
    EQUIVALENT,
    IMPRECISE,
    KINDS,
    MEMBERS,
    NAMED,
    OUTSIDE,
    PAGE,
    UNNAMED,
    KnownTarget,
    kind_of,
    page_of,
)
from optimetry.conformance.selftest.faults import FAULTS, outcome
from optimetry.conformance.selftest.known_targets import DTYPES, member_verdict, unnamed

TEXT = (Path(__file__).parents[3] / PAGE).read_text(encoding="utf-8")
CLASSES = [point_class for optimizer in FAMILIES for point_class in unnamed(optimizer)]


def counts(kind: str) -> dict[str, int]:
    (row,) = (line for line in TEXT.splitlines() if line.startswith(f"| {kind} | "))
    total, *numbers = map(int, row.split("|")[2:-1])
    assert sum(numbers) == total > 0
    return dict(zip(COLUMNS, numbers, strict=True))


def diagnoses() -> dict[tuple[str, str, str], str]:
    """What the tables say of each rule, target and dtype."""
    rows = re.findall(r"^\| ([\w.]+) \| (.+?) \| (float\d+|bfloat16) \| (.+) \|$", TEXT, re.MULTILINE)
    return {(rule, name, dtype): diagnosis for rule, name, dtype, diagnosis in rows}


def test_members_of_families_are_named_exactly_and_nothing_is_named_wrongly() -> None:
    """Issue: at least 95% of in-family faults named exactly, none named wrongly."""
    counted = [counts(kind) for kind in MEMBERS]
    exact = sum(row["named exactly"] for row in counted)
    assert exact >= 0.95 * sum(sum(row.values()) for row in counted)
    assert all(counts(kind)["named wrongly"] == 0 for kind in KINDS)


def test_what_is_outside_every_family_has_no_name() -> None:
    row = counts(OUTSIDE)
    assert (row["named exactly"], row["named wrongly"], row["conforms"]) == (0, 0, 0)


def test_honest_equivalents_conform() -> None:
    row = counts(EQUIVALENT)
    assert row["conforms"] == sum(row.values())


def test_the_page_is_of_these_faults_and_classes() -> None:
    tried = {(fault.optimizer, fault.name, dtype) for fault in FAULTS.values() for dtype in fault.dtypes}
    tried |= {(point_class.optimizer, point_class.name, dtype) for point_class in CLASSES for dtype in DTYPES}
    assert set(diagnoses()) == tried, "run `python -m optimetry.conformance.selftest.pages`"


def test_faults_are_diagnosed_as_declared() -> None:
    """And test_faults.py holds what is declared against what is diagnosed."""
    diagnosed, faults = diagnoses(), [fault for fault in FAULTS.values() if not fault.because]
    declared = {(fault.optimizer, fault.name, dtype): fault.outcome for fault in faults for dtype in fault.dtypes}
    assert {key: diagnosed[key] for key in declared} == {
        key: x.removeprefix("dialect: ") for key, x in declared.items()
    }


@pytest.mark.parametrize(
    "point_class", CLASSES[::13], ids=lambda point_class: f"{point_class.optimizer}-{point_class.name}"
)
def test_a_sample_of_members_is_diagnosed_as_the_page_says(point_class: PointClass) -> None:
    diagnosed = outcome(member_verdict(point_class, "float32")).removeprefix("dialect: ")
    assert diagnoses()[point_class.optimizer, point_class.name, "float32"] == diagnosed


def test_a_page_counts_what_it_is_given() -> None:
    trials = [
        KnownTarget(NAMED, "a", "adam", "float32", "dialect: x", "dialect: x"),
        KnownTarget(NAMED, "b", "adam", "float32", "dialect: x", "dialect: y"),
        KnownTarget(IMPRECISE, "e", "adam", "float64", "imprecise: a in float32", "conforms"),
        KnownTarget(OUTSIDE, "c", "sgd", "float32", "diverges", "dialect: y"),
        KnownTarget(EQUIVALENT, "d", "sgd", "float32", "conforms", "conforms"),
    ]
    text = page_of(trials)
    assert "Of 3 targets that compute something known, 1 are named exactly (33.3 %)." in text
    assert "Of all 5 targets, 2 are named wrongly." in text
    assert "| named dialect | 2 | 1 | 1 | 0 | 0 | 0 |" in text
    assert "| imprecise arithmetic | 1 | 0 | 0 | 0 | 0 | 1 |" in text
    assert "| sgd | c | float32 | y |" in text.split("## Not as expected")[1].split("## ")[0]


def test_every_kind_but_honest_and_unnamed_ones_is_among_the_faults() -> None:
    assert {kind_of(fault) for fault in FAULTS.values()} == {*KINDS} - {UNNAMED, EQUIVALENT}
