"""Helpers that ask the judge for verdicts, diagnoses and classes."""

from __future__ import annotations

import dataclasses
from typing import Any

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.diagnose import Diagnosis, diagnose
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.points import PointClass, classes_of
from optimetry.conformance.targets.session import Guard
from optimetry.reports.results import Verdict

QUICK = dataclasses.replace(EFFORTS["quick"], scales=())
"""Without large cases, which have tests of their own."""
FEW = Effort("few", 10, 1)
"""For a diagnosis, which runs probes as well."""

NAMED = [dialect for dialects in DIALECTS.values() for dialect in dialects]


def verdict_of(
    target: Any,
    optimizer: str,
    dtype: str = "float32",
    effort: Effort = QUICK,
    guard: Guard | None = None,
    search: float | None = 0.0,
) -> Verdict:
    """The verdict on a target of one engine."""
    (verdict,) = judge(engines_of(target), optimizer, dtype, effort=effort, seed=0, guard=guard, search=search)
    return verdict


def diagnosed(target: Any, optimizer: str, dtype: str = "float32") -> Diagnosis:
    """The diagnosis of a target of one engine."""
    (diagnosis,) = diagnose(engines_of(target), optimizer, dtype, effort=FEW, seed=0)
    return diagnosis


def dialect_named(optimizer: str, name: str) -> Dialect:
    (dialect,) = (dialect for dialect in DIALECTS[optimizer] if dialect.name == name)
    return dialect


def class_named(optimizer: str, name: str) -> PointClass:
    (point_class,) = (each for each in classes_of(optimizer) if each.name == name)
    return point_class


def label(value: Any) -> str | None:
    """What a parameter is called in a test's id."""
    if isinstance(value, Dialect | PointClass):
        return f"{value.optimizer}-{value.name}"
    name = value if isinstance(value, str) else getattr(value, "__name__", None)
    return name if isinstance(name, str) else None
