"""Confirms a broken law for a target that is not documented: with the rounding bound of what it computes.

Laws are first measured with the documented formula's bound. Another formula may round more, so that an honest
evaluation of it, whose vector body and tail round differently, seems to break a law.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws import Law, laws_of
from optimetry.conformance.laws.law import Formula
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import named_classes
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard

Broken = tuple[Law, str, Case]
"""A law, what contradicts it, and the case on which it does."""


def confirmed(target: Target, broken: Broken, explanation: Explanation | None, guard: Guard) -> Broken | None:
    """Return the first law that a rejected target breaks on the case of a broken one; None where none remains.

    With an explanation, every universal law is tried with the bound of the formula that it gives. Without one, the
    broken law and those behind it are, with the widest bound of all named formulas: what is unknown may round like any.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    law, _, case = broken
    laws = laws_of(subject_of(case))
    formula = widest if explanation is None else explanation.expected
    trying = laws[laws.index(law) :] if explanation is None else [other for other in laws if other.universal]
    return _first_broken(target, [other for other in trying if not other.slow or other is law], case, guard, formula)


def _first_broken(target: Target, laws: Sequence[Law], case: Case, guard: Guard, formula: Formula) -> Broken | None:
    for law in laws:
        found = law.broken(target, case, guard, formula)
        if found is not None:
            return law, found, case
    return None


def widest(case: Case) -> Expected:
    """Return the documented formula, each element with the largest finite bound of it and of the named dialects."""
    oracle = expected(case)
    named = named_classes(case.optimizer)
    bounds = [expected(case, rule_class.of(case.hyper)).bound for rule_class in named]
    bound = oracle.bound
    for other in bounds:
        bound = np.where(np.isfinite(other), np.maximum(bound, other), bound)
    return Expected(oracle.value, bound, oracle.start)
