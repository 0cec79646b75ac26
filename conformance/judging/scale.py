"""Holds an explained target against large cases: big tensors, many tensors, long runs.

They are tried once the other cases have an explanation, the documented formula or another. A target that is right in
small cases and wrong in large ones computes nothing that has a name: it diverges, and the size at which it begins to is
the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.large import built, largeness, smallest, to_json
from optimetry.conformance.cases.strategies import Plan
from optimetry.conformance.judging import evidence
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.numerics.agreement import SLACK, Agreement, Expected, compare, shares_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.oracle.sampled import Part, part_of, sampled
from optimetry.conformance.subjects.registry import subject_named, subject_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetFault

SHOWN = 3
"""The most elements that a counterexample has."""

NUMBERS = 4000
"""The most numbers, of all steps, that a counterexample has."""


@dataclass(frozen=True)
class Contradiction:
    """What a large case has shown against an explanation.

    Attributes:
        fields: those of the verdict.
        agreement: with the documented formula, in that case.
    """

    fields: dict[str, Any]
    agreement: Agreement = field(default_factory=Agreement)


def contradiction(
    target: Target, plans: Iterable[Plan], explanation: Explanation, guard: Guard
) -> Contradiction | None:
    """Try large cases, and return what the first shows that an explanation does not explain; None where all agree."""
    trial = _Trial(target, explanation, guard)
    for plan in plans:
        try:
            if trial.failing(plan) is not None:
                return trial.shown(smallest(plan, lambda smaller: trial.failing(smaller) is not None))
        except TargetFault as fault:
            shown = {"plan": to_json(plan), "case": to_json(plan), "script": None}
            reason = f"{fault}, with {largeness(plan) or 'a small case'}"
            return Contradiction({"verdict": "error", "reason": reason, "counterexample": shown})
    return None


@dataclass(frozen=True)
class _Failing:
    """A large case that is not explained: the part that was compared, and what the target returned there."""

    case: Case
    part: Part
    given: Array
    oracle: Expected


@dataclass(frozen=True)
class _Trial:
    """An explanation held against one target."""

    target: Target
    explanation: Explanation
    guard: Guard

    def failing(self, plan: Plan) -> _Failing | None:
        """Run the case of a plan; None where it is explained, or not offered."""
        case = built(plan, subject_named(plan.optimizer))
        if reason_unsupported(self.target, case) is not None:
            return None
        after = trajectory(self.target, case, self.guard)
        part = sampled(case, after, self.explanation.computed(case.hyper))
        given, oracle = after[:, part.columns], self.explanation.expected(part.case)
        return None if compare(given, oracle, case.form).conforms else _Failing(case, part, given, oracle)

    def shown(self, plan: Plan) -> Contradiction:
        """Build the verdict on a plan that fails."""
        found = self.failing(plan)
        assert found is not None
        large = largeness(plan)
        agreement = compare(found.given, expected(found.part.case), found.case.form)
        if large is None:
            reason = f"no known rule explains it: up to {agreement.share:.3g} times what rounding can"
            shown = evidence.difference(self.target, found.case, self.guard)
            return Contradiction({"verdict": "diverges", "reason": reason, "counterexample": shown}, agreement)
        shares = shares_of(found.given, found.oracle, np.isfinite(found.oracle.bound) & np.isfinite(found.oracle.value))
        step = int(np.argmax(shares.max(axis=1) > SLACK))
        column = int(np.argmax(shares[step]))
        given, wanted = (float(x[step, column]) for x in (found.given, found.oracle.value))
        reason = (
            f"{'as documented' if self.explanation.rule.documented else self.explanation.rule.name} in small cases, "
            f"but not with {large}, the smallest such case found: returned {given:.9g} at step {step + 1}, "
            f"element {found.part.columns[column]}, where {wanted:.9g} is expected"
        )
        shown = {"plan": to_json(plan), **self._evidence(plan, found, shares.max(axis=0))}
        return Contradiction({"verdict": "diverges", "reason": reason, "counterexample": shown}, agreement)

    def _evidence(self, plan: Plan, found: _Failing, shares: Array) -> dict[str, Any]:
        """Cut what is furthest off out of the case, with a script; the plan alone where that is too much."""
        part = _cut(found.part.case, shares)
        if part is None:
            return {"case": to_json(plan), "script": None}
        given, oracle = found.given[:, part.columns], expected(part.case)
        worst = compare(given, oracle, part.case.form)
        if worst.conforms or worst.worst is None:  # another formula explained the small cases
            return {"case": part.case.to_json(), "script": None}
        name = f"{self.target.name} {self.target.version}"
        title = f"{name} on {plan.optimizer} in {plan.dtype}: elements of {largeness(plan)}."
        step, element = worst.worst
        return {
            "case": part.case.to_json(),
            "step": step + 1,
            "element": element,
            "given": repr(given[step, element].item()),
            "documented": str(oracle.value[step, element]),
            "bound": float(oracle.bound[step, element]),
            "share": worst.share,
            "script": evidence.script(part.case, given, oracle, title=title, target=name),
        }


def _cut(case: Case, shares: Array) -> Part | None:
    """Return the part of a case with the largest error ratios, as far as it can be evaluated apart and is small."""
    subject, steps = subject_of(case), len(case.grads)
    columns = np.arange(case.size)
    if subject.elementwise:
        columns = np.sort(np.argsort(shares)[::-1][: max(1, min(SHOWN, NUMBERS // steps, np.sum(shares > SLACK)))])
    elif not subject.joint:
        ends = np.cumsum([param.size for param in case.parameters])
        tensor = int(np.searchsorted(ends, np.argmax(shares), side="right"))
        columns = np.arange(ends[tensor] - case.parameters[tensor].size, ends[tensor])
    return part_of(case, columns) if len(columns) * steps <= NUMBERS else None
