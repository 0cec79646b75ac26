"""Confirms a broken law for a target that is not documented: with the rounding bound of what it computes.

Laws are first measured with the documented formula's bound. Another formula may round more, so that an honest
evaluation of it, whose vector body and tail round differently, seems to break a law.
"""

from __future__ import annotations

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.broken import Broken, BrokenLaws
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import named_classes
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard


def confirmed(target: Target, laws: BrokenLaws, explanation: Explanation | None, guard: Guard) -> BrokenLaws:
    """Return the laws that a rejected target breaks beyond the rounding of what it computes.

    With an explanation, the universal ones are tried again with the bound of the formula that it gives, and what is
    about NaN and infinities with the formula itself; the others are no laws of that formula, or of the documented one
    only if it is computed precisely. Without one, all are, with the widest bound of all named formulas: what is unknown
    may round like any. A law that no bound entered the second time is broken by a target that differs each time, and
    stays.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    formula = widest if explanation is None else explanation.expected
    bounded: list[Case] = []

    def noted(case: Case) -> Expected:
        bounded.append(case)
        return formula(case)

    kept = {}
    for name, each in laws.broken.items():
        if explanation is None or each.law.universal or each.law.any_arithmetic:
            bounded.clear()
            rule_of = None if explanation is None else explanation.rule.of
            found = each.law.broken(target, each.case, guard, noted, rule_of, each.engines)
            if found is not None:
                kept[name] = Broken(each.law, found, each.case, formula, each.engines)
            elif not bounded and not each.law.any_arithmetic:  # which is held to the formula, and to no bound
                kept[name] = each
    return BrokenLaws(kept, laws.cases, laws.engines)


def widest(case: Case) -> Expected:
    """Return the documented formula, each element with the largest finite bound of it and of the named dialects."""
    oracle = expected(case)
    bound = oracle.bound
    for rule_class in named_classes(case.optimizer):
        other = expected(case, rule_class.of(case.hyper)).bound
        bound = np.where(np.isfinite(other), np.maximum(bound, other), bound)
    return Expected(oracle.value, bound, oracle.start)
