"""Scales of large cases, and helpers that build them and hold targets against them."""

from __future__ import annotations

from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.large import FEW_SIZES, MIXED, SHORT, Scale, built, large_plans
from optimetry.conformance.judging.scale import contradiction
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.session import Guard

BIG = Scale(((65_537,),))
MANY = Scale(MIXED, tensors=70, drawn=True)
LONG = Scale(SHORT, steps=300)
EACH_SIZE = Scale(FEW_SIZES, tensors=len(FEW_SIZES), options=True)


def case_of(optimizer: str, scale: Scale, dtype: str = "float32") -> Case:
    (plan,) = large_plans(subject_named(optimizer), dtype, [scale], 0)
    return built(plan, subject_named(optimizer))


def contradicted(target: Any, optimizer: str, *scales: Scale, dtype: str = "float32") -> str | None:
    """The reason why large cases contradict the documented formula; None if they do not."""
    plans = large_plans(subject_named(optimizer), dtype, scales, 0)
    evidence = contradiction(target, plans, Explanation(documented_class(optimizer)), Guard())
    return None if evidence is None else str(evidence.fields["reason"])
