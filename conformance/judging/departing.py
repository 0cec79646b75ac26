"""Names what a run does beside its rule in a large case: it leaves elements out, or an alteration explains it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.first_mistake import LEAST_EXPLAINED
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs
from optimetry.conformance.numerics.agreement import explained
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.oracle.sampled import Sample, part_of
from optimetry.conformance.subjects.registry import subject_of

MOST_LISTED = 5
"""The most tensors that are listed by number."""

FEW = 2**13
"""The most numbers, of all steps, on which alterations are tried."""


def beside_the_rule(
    whole: Case, part: Sample, results: Array, off: Array, explanation: Explanation
) -> Mapping[str, Any] | None:
    """Return what a run does beside its rule, as `Part.run` records it; None where no listed alteration explains it.

    Args:
        whole: the large case.
        part: what is compared of it.
        results: what the target returned there, shape (steps, elements).
        off: which of these elements the rule does not explain.
        explanation: the rule, which explains the small cases.
    """
    case, subject = part.case, subject_of(part.case)
    if not subject.elementwise or not subject.has_learning_rate:
        return None
    kept = (results == flat(case.parameters)).all(axis=0)
    if kept[off].all():
        return _left_out(whole, part.columns, off, kept)
    chosen = np.sort(np.argsort(~off, kind="stable")[: max(FEW // len(results), 1)])  # those that are off first
    case, results = part_of(case, chosen).case, results[:, chosen]
    listed = (
        mistake
        for mistake in mistakes_of_runs(subject, case.dtype)[0]
        if not getattr(mistake.alteration, "by_place", False)
    )
    tried = (
        (mistake, explained(results, Mistaken(explanation, mistake).expected(case), case.form)) for mistake in listed
    )
    explaining = [
        mistake for mistake, agreement in tried if agreement is not None and agreement.judged >= LEAST_EXPLAINED
    ]
    return explaining[0].run if explaining and all(mistake.is_same(explaining[0]) for mistake in explaining) else None


def _left_out(whole: Case, columns: Array, off: Array, kept: Array) -> Mapping[str, Any]:
    """Describe which elements keep their first values, where all that are off do."""
    sizes = [param.size for param in whole.parameters]
    starts = np.cumsum([0, *sizes])
    tensors = np.searchsorted(starts, columns, side="right") - 1
    wrong = np.unique(tensors[off])
    if kept.all():
        return {"finding": "left_out_elements", "which": "every element"}
    if all(kept[tensors == tensor].all() for tensor in wrong):
        return {"finding": "left_out_tensors", "which": _tensors(wrong)}
    if len(wrong) == 1:
        places = columns - starts[wrong[0]]
        first, last = places[off].min(), places[off].max()
        if kept[(places >= first) & (places <= last) & (tensors == wrong[0])].all():
            which = f"element {first}" if first == last else f"elements {first} to {last}"
            return {"finding": "left_out_elements", "which": which}
    return {"finding": "left_out_elements", "which": f"{np.count_nonzero(off)} of the elements compared"}


def _tensors(numbers: Array) -> str:
    """Write which tensors: one, some behind each other, or a few; how many, where that is long."""
    if len(numbers) == 1:
        return f"tensor {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"tensors {numbers[0]} to {numbers[-1]}"
    return f"tensors {', '.join(map(str, numbers))}" if len(numbers) <= MOST_LISTED else f"{len(numbers)} tensors"
