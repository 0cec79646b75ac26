"""Helpers that ask the judge for verdicts, diagnoses and classes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.diagnose import Diagnosis, diagnose
from optimetry.conformance.judging.examine import examined, judge
from optimetry.conformance.laws import LAWS
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.known.points import PointClass, classes_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest import vector_table
from optimetry.conformance.selftest.faults.fault import Start
from optimetry.conformance.selftest.faults.hooks import hooked
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.protocol import reason_unsupported
from optimetry.conformance.targets.session import Guard
from optimetry.reports.results import Verdict

QUICK = dataclasses.replace(EFFORTS["quick"], scales=())
"""Without large cases, which have tests of their own."""
SOME = Effort("some", 24, 1)
"""For a verdict that has few ways to be wrong: what explains 24 cases mostly explains 80."""
FEW = Effort("few", 10, 1)
"""For a diagnosis, which runs probes as well."""

IN_DTYPES = [
    (name, dtype)
    for name in SUBJECTS
    for dtype in FORMATS
    if dtype in ("float32", "bfloat16") or subject_named(name).book == "fluid"
]
"""Subjects with dtypes: all of wrappers and the rules of fluid, a wide and a narrow one of the rules of other books."""

IN_TURN = list(zip(SUBJECTS, cycle(FORMATS)))
"""Each subject with one dtype, and the next one with the next; `test_properties.py` tries all of `IN_DTYPES`."""

vectors_of = cache(vector_table.made)

NAMED = [dialect for dialects in DIALECTS.values() for dialect in dialects]


def verdict_of(
    target: Any,
    optimizer: str,
    dtype: str = "float32",
    effort: Effort = SOME,
    guard: Guard | None = None,
    search: float | None = 0.0,
) -> Verdict:
    """The verdict on a target of one engine."""
    (verdict,) = judge(engines_of(target), optimizer, dtype, effort=effort, seed=0, guard=guard, search=search)
    return verdict


def assert_rejected(engines: Sequence[Any], optimizer: str, dtype: str, effort: Effort) -> None:
    """A case or a law rejects one engine, no fault against the protocol; what it computes need not be identified."""
    (examination,) = examined(engines, optimizer, dtype, effort=effort, seed=0)
    assert examination.fault is None
    assert examination.rejected or examination.laws.broken


def breaches(law: str, target: Any, optimizer: str, dtype: str = "float32", count: int = 3) -> list[str]:
    """How some cases break a law; empty if none does."""
    cases = drawn_cases(subject_named(optimizer), dtype, seed=0, count=count)
    offered = [case for case in cases if reason_unsupported(target, case) is None]
    tried = [LAWS[law].broken(Trial(target, case, Guard())) for case in offered]
    assert tried
    return [text for text in tried if text is not None]


def begun_by(start: Start, optimizer: str | None = None) -> Instead:
    """The reference, but for the runs of one rule, or of all, which begin as those of a fault."""
    return Instead(lambda rule, parameters: start(rule, parameters, {}), optimizer)


def with_hooks(optimizer: str | None = None, **hooks: Any) -> Instead:
    """The reference, but for what some functions do to the runs of one rule, or of all."""
    return begun_by(hooked(**hooks), optimizer)


def without_lines(reason: str) -> str:
    """A reason but for the lines of a test's own code that raised."""
    return re.sub(r" \(\w+\.py:\d+\)", "", reason)


def flushed(array: Array) -> Array:
    """Set subnormal numbers to zero, as a device may."""
    return np.where(np.abs(array) < FORMATS[array.dtype.name].smallest_normal, array.dtype.type(0), array)


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
