"""Finds the rule nearest to what a target computes, where nothing explains it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import PointClass, documented_class, named_classes
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.agreement import compare, contradicted
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected

A_DIGIT = 0.1
"""Up to which share of a number a bound leaves it a digit."""


@dataclass(frozen=True)
class Nearest:
    """The rule with the smallest error ratio.

    Attributes:
        rule: which one.
        in_float32: whether the rule explains float64 runs only in float32 arithmetic: the target is no better than
            that.
    """

    rule: PointClass
    in_float32: bool = False


def nearest_to(probed: Probed | None, case: Case, after: Array, tried: Iterable[tuple[Case, Array]]) -> Nearest:
    """Find the nearest rule in the probes, or where none were run, in one rejected case.

    Args:
        probed: the target's results in the probes of its family.
        case: a case in which the documented formula does not explain it.
        after: what it gave there.
        tried: further cases with what it gave, which are asked for where it seems no better than float32 arithmetic.
    """
    ranking = probed.agreements if probed is not None else []
    if ranking:
        rule = ranking[0][0]
    else:
        rules = [documented_class(case.optimizer), *named_classes(case.optimizer)]
        rule = min(rules, key=lambda each: compare(after, expected(case, each.of(case.hyper)), case.form).share)
    runs = probed.cases if probed is not None and probed.runs else [(case, after)]
    single = case.dtype == "float64" and only_in_float32(rule, runs) and only_in_float32(rule, [(case, after), *tried])
    return Nearest(rule, single)


def only_in_float32(rule: PointClass, runs: Iterable[tuple[Case, Array]]) -> bool:
    """Whether a rule explains these float64 runs in float32 arithmetic only, and not in float64.

    Where it contradicts them in float64, float32 must determine a digit somewhere: what is tiny underflows there, and
    then anything is explained.
    """
    plain, single = Explanation(rule), Explanation(rule, Arithmetic(computed_in="float32"))
    telling = False
    for case, after in runs:
        there, narrow = contradicted(after, plain.expected(case)), single.expected(case)
        if not compare(after, narrow, case.form).conforms:
            return False
        telling |= bool((narrow.bound[there] <= A_DIGIT * np.abs(narrow.value[there])).any())
    return telling
