"""Names what a run does beside its rule in large cases alone: elements left out, slots held in a narrow format.

In small cases the rule explains the target. Where it fails in a large one, the elements that are off may be those that
are left out of every update, or one of the alterations of runs explains all that is compared of the case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.parts import MOST
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.runs import mistakes_of_runs
from optimetry.conformance.numerics.agreement import explained
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.oracle.sampled import Part, part_of
from optimetry.conformance.subjects.registry import subject_of

FEW = 2**13
"""The most numbers, of all steps, on which alterations are tried."""


def beside_the_rule(
    whole: Case, part: Part, given: Array, off: Array, explanation: Explanation
) -> Mapping[str, Any] | None:
    """Return what a run does beside its rule, as `Part.run` records it; None where no listed alteration explains it.

    Args:
        whole: the large case.
        part: what is compared of it.
        given: what the target returned there, shape (steps, elements).
        off: which of these elements the rule does not explain.
        explanation: the rule, which explains the small cases.
    """
    case, subject = part.case, subject_of(part.case)
    if not subject.elementwise or not subject.has_learning_rate:
        return None
    kept = (given == flat(case.parameters)).all(axis=0)
    if kept[off].all():
        return _left_out(whole, part.columns, off, kept)
    chosen = np.sort(np.argsort(~off, kind="stable")[: max(FEW // len(given), 1)])  # those that are off first
    case, given = part_of(case, chosen).case, given[:, chosen]
    listed = (one for one in mistakes_of_runs(subject, case.dtype)[0] if not getattr(one.alteration, "by_place", False))
    tried = ((one, explained(given, Mistaken(explanation, one).expected(case), case.form)) for one in listed)
    found = [one for one, agreement in tried if agreement is not None and agreement.judged >= MOST]
    return found[0].run if found and all(one.is_same(found[0]) for one in found) else None


def _left_out(whole: Case, columns: Array, off: Array, kept: Array) -> Mapping[str, Any]:
    """Describe which elements keep their first values, where all that are off do."""
    sizes = [param.size for param in whole.parameters]
    starts = np.cumsum([0, *sizes])
    tensors = np.searchsorted(starts, columns, side="right") - 1
    wrong = np.unique(tensors[off])
    if kept.all():
        return {"finding": "left_out_elements", "which": "every element"}
    if all(kept[tensors == tensor].all() for tensor in wrong):
        return {"finding": "left_out_tensors", "which": f"tensor {_listed(wrong)}"}
    if len(wrong) > 1:
        return {"finding": "left_out_elements", "which": f"{np.count_nonzero(off)} of the elements compared"}
    places = columns - starts[wrong[0]]
    first, last = places[off].min(), places[off].max()
    if first == last:
        return {"finding": "left_out_elements", "which": f"element {first}"}
    if kept[(places >= first) & (places <= last) & (tensors == wrong[0])].all():
        return {"finding": "left_out_elements", "which": f"elements {first} to {last}"}
    return {"finding": "left_out_elements", "which": f"{np.count_nonzero(off)} of the elements compared"}


def _listed(numbers: Array) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
