"""Tells apart the formulas that explain a target equally: by a case that it takes, or else shows one that would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.cases.shrink import shrunk
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import EXACTLY, separations
from optimetry.conformance.naming.search.edited import Edited
from optimetry.conformance.naming.search.telling import telling_cases
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named

DRAWN, SEED = 80, 2
"""The number of drawn cases that may tell two formulas apart, and their seed."""

LONGEST, LARGEST = 8, 40
"""The most steps and elements of a drawn case: few, so that a reader sees what differs."""

SHRINKING = 100
"""The most cases that are tried to shrink the one that is shown."""


@dataclass(frozen=True)
class Telling:
    """A case in which two formulas give numbers that rounding does not explain.

    Attributes:
        case: what both are fed.
        step: the step, from 1.
        element: which element, of all tensors behind each other.
        values: what the first formula gives there, and what the other gives.
    """

    case: Case
    step: int
    element: int
    values: tuple[float, float]


@dataclass(frozen=True)
class Rival:
    """A formula that explains a target as well as another one.

    Attributes:
        formula: the formula.
        telling: a case that would tell the two apart if the target took it; None where no drawn case does.
    """

    formula: Edited
    telling: Telling | None


def candidates_of(optimizer: str, dtype: str, limits: Limits) -> tuple[Case, ...]:
    """Return the cases that may tell formulas apart, first as a target takes them."""
    drawn = islice(drawn_cases(subject_named(optimizer), dtype, seed=SEED, count=DRAWN), DRAWN)
    short = (case for case in drawn if len(case.grads) <= LONGEST and 0 < case.size <= LARGEST)
    cases = (*telling_cases(optimizer, dtype), *short)
    return (*map(limits.offered, cases), *(case for case in cases if limits.lacking(case)))


def told_apart(
    formulas: Sequence[Edited],
    cases: Sequence[Case],
    takes: Callable[[Case], bool],
    refuted: Callable[[Edited, Case], bool],
) -> tuple[list[Edited], list[Rival]]:
    """Return the formulas that are left, the simplest first, and its rivals, which explain the target as well.

    Formulas that give the same in every case, but for the last digits of wider numbers, count as one: the first. Those
    that the target contradicts in a case that tells two apart are left out.

    Args:
        formulas: those that explain a target so far, the simplest first.
        cases: cases that may tell them apart.
        takes: whether the target takes a case.
        refuted: whether it contradicts a formula in a case that it takes.
    """
    left, rivals = list(formulas), list[Rival]()
    while left:
        first, rivals = left[0], []
        for other in left[1:]:
            apart = [
                (case, float(np.max(_separations(first.explanation, other.explanation, case), initial=0.0)))
                for case in cases
            ]
            telling = [case for case, distance in apart if distance > SLACK]
            asked = next(filter(takes, telling), None)
            remaining = left if asked is None else [formula for formula in left if not refuted(formula, asked)]
            if len(remaining) < len(left):
                left = remaining
                break
            if max(distance for _, distance in apart) > EXACTLY:
                rivals.append(Rival(other, _shown(first, other, telling[0], takes) if telling else None))
        else:
            break
    return left, rivals


def same(first: Edited, other: Edited, cases: Sequence[Case]) -> bool:
    """Whether two formulas, perhaps edits of two known ones, give the same in some cases, computed plainly."""
    plain = Explanation(first.formula), Explanation(other.formula)
    try:
        return all(np.max(_separations(*plain, case), initial=0.0) <= EXACTLY for case in cases)
    except (KeyError, TypeError, ValueError):  # a formula needs an input that wrappers lack, or no bounds can answer
        return False


def _separations(first: Explanation, other: Explanation, case: Case) -> Array:
    """Return how far two formulas are apart in each element, in bounds; 0 where either leaves it open."""
    distances: Array = separations(first.expected(case), other.expected(case))
    return np.where(np.isfinite(distances), distances, 0.0)


def _shown(first: Edited, other: Edited, case: Case, takes: Callable[[Case], bool]) -> Telling:
    """Return a case that tells two formulas apart and that the target does not take, made smaller."""
    explanations = first.explanation, other.explanation

    def tells(smaller: Case) -> bool:
        return not takes(smaller) and float(np.max(_separations(*explanations, smaller), initial=0.0)) > SLACK

    declared = subject_named(case.optimizer).hyperparameters()
    case = shrunk(case, tells, declared, SHRINKING) if tells(case) else case
    apart = _separations(*explanations, case)
    step, element = (int(i) for i in np.unravel_index(np.argmax(apart), apart.shape))
    values = [float(explanation.expected(case).value[step, element]) for explanation in explanations]
    return Telling(case, step + 1, element, (values[0], values[1]))
