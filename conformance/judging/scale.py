"""Holds an explained target against large cases: big tensors, many tensors, long runs.

They are tried once the other cases have an explanation, the documented formula or another. A target that is right in
small cases and wrong in large ones computes nothing that has a name: it diverges, and the size at which it begins to is
the reason. A run that can be saved is resumed, too, a long one near its end. What is off may be elements that are left
out of every update, or an alteration of runs may explain all that is compared of the case: then the verdict names that
beside the rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.large import LONGEST, WHOLE, built, largeness, smallest, to_json
from optimetry.conformance.cases.strategies import CasePlan
from optimetry.conformance.judging.counterexamples import evidence
from optimetry.conformance.judging.counterexamples.script import script
from optimetry.conformance.judging.departing import beside_the_rule
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.laws.resumed import resumed_trajectory
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.numerics.agreement import (
    SLACK,
    Agreement,
    Expected,
    compare,
    first_beyond,
    shares_of,
)
from optimetry.conformance.numerics.arrays import Array, same_bits
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.oracle.sampled import Sample, part_of, sampled
from optimetry.conformance.subjects.registry import subject_named, subject_of
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetFault
from optimetry.reports import parts
from optimetry.reports.results import Computes

SHOWN = 3
"""The most elements that a counterexample has."""

LAST = 5
"""How many steps a long run takes after it was saved."""

NUMBERS = 4000
"""The most numbers, of all steps, that a counterexample has."""


@dataclass(frozen=True)
class Contradiction:
    """What a large case has shown against an explanation.

    Attributes:
        fields: the verdict's fields.
        agreement: with the documented formula, in that case.
    """

    fields: dict[str, Any]
    agreement: Agreement = field(default_factory=Agreement)


def contradiction(
    target: Target, plans: Iterable[CasePlan], explanation: Explanation, guard: Guard
) -> Contradiction | None:
    """Try large cases; return what the first one that the explanation fails on shows, None where it explains all."""
    trial = _Trial(target, explanation, guard)
    for plan in plans:
        try:
            failure = trial.failing(plan)
            if failure is not None:
                least = smallest(plan, trial.fails, _defaults(plan))
                return trial.shown(least, failure if least == plan else trial.failing(least))
        except TargetFault as fault:
            where = largeness(plan) or f"a run of {plan.steps} steps"
            shown = {"plan": to_json(plan), "case": to_json(plan), "script": None}
            return Contradiction({"verdict": "error", "reason": f"{fault}, with {where}", "counterexample": shown})
    return None


@dataclass(frozen=True)
class _Failing:
    """A large case that is not explained.

    Attributes:
        case: the whole case.
        part: what was compared of it.
        results: what the target returned there.
        oracle: the expected value there.
        resumed: whether the run was saved and resumed behind half of its steps.
    """

    case: Case
    part: Sample
    results: Array
    oracle: Expected
    resumed: bool = False

    @cached_property
    def shares(self) -> Array:
        """The error ratios."""
        shares: Array = shares_of(self.results, self.oracle)
        return shares

    @property
    def step(self) -> int:
        """The first step that is not explained, from 0."""
        return int(np.argmax(self.shares.max(axis=1) > SLACK))


@dataclass(frozen=True)
class _Trial:
    """An explanation held against one target."""

    target: Target
    explanation: Explanation
    guard: Guard

    def failing(self, plan: CasePlan) -> _Failing | None:
        """Run the case of a plan; None where it is explained, not offered, or of shapes that no document describes."""
        subject = subject_named(plan.optimizer)
        if not all(subject.takes(tensor.shape) for tensor in plan.tensors):
            return None
        case = limits_of(self.target, plan.optimizer).offered(built(plan, subject))
        if reason_unsupported(self.target, case) is not None:
            return None
        after = trajectory(self.target, case, self.guard)
        failing = self._held(case, after)
        if failing is None and case.size <= WHOLE:
            again = resumed_trajectory(Trial(self.target, case, self.guard), _saved_behind(plan))
            if again is not None and not same_bits(again, after):
                return self._held(case, again, resumed=True)
        return failing

    def fails(self, plan: CasePlan) -> bool:
        """Whether the explanation fails on a plan; one that cannot be run at all shows something else."""
        try:
            return self.failing(plan) is not None
        except TargetFault:
            return False

    def _held(self, case: Case, after: Array, *, resumed: bool = False) -> _Failing | None:
        """Compare a run with the explanation, unless that is of whole tensors and some elements alone are at hand."""
        computed = self.explanation.computed(case.hyper)
        part = sampled(case, after, computed)
        if len(part.columns) < case.size and subject_of(case).elementwise and not computed.elementwise:
            return None
        results, oracle = after[:, part.columns], self.explanation.expected(part.case)
        return None if compare(results, oracle, case.form).conforms else _Failing(case, part, results, oracle, resumed)

    def shown(self, plan: CasePlan, failure: _Failing | None) -> Contradiction:
        """Build the verdict on a plan that fails."""
        if failure is None:
            raise TargetFault("gives another result in every run")
        agreement = compare(failure.results, expected(failure.part.case), failure.case.form)
        small = largeness(plan) is None and failure.step < LONGEST and not failure.resumed
        if small and not agreement.conforms:
            reason = f"no known rule explains it: up to {agreement.share:.3g} times what rounding can"
            short = failure.case.upto(LONGEST)
            again = trajectory(self.target, short, self.guard)
            if first_beyond(again, expected(short)) is None:
                raise TargetFault("gives another result in every run")
            shown = evidence.of_difference(self.target, short, again, self.guard)
        else:
            reason = self._reason(plan, failure)
            shown = {"plan": to_json(plan), **self._evidence(plan, failure)}
        fields = {"verdict": "diverges", "reason": reason, "counterexample": shown}
        return Contradiction(fields | self._beside(plan, failure, reason), agreement)

    def _beside(self, plan: CasePlan, failure: _Failing, reason: str) -> dict[str, Any]:
        """Return the verdict's fields on what the run does beside its rule from some size on; none if unknown."""
        size = largeness(plan)
        off = np.asarray((failure.shares > SLACK).any(axis=0))
        named = size and not failure.resumed
        run = beside_the_rule(failure.case, failure.part, failure.results, off, self.explanation) if named else None
        if run is None:
            return {}
        part = parts.Part(self.explanation.rule.name, None, None, {**run, "with": size})
        return {"computes": Computes(parts=[part]), "reason": f"computes {part.words}; {reason}"}

    def _reason(self, plan: CasePlan, failure: _Failing) -> str:
        """Say what fails where, and from which size on."""
        rule, step = self.explanation.rule, failure.step
        column = int(np.argmax(failure.shares[step]))
        result, wanted = (float(x[step, column]) for x in (failure.results, failure.oracle.value))
        tensor, element = _place(failure.case, int(failure.part.columns[column]))
        size = largeness(plan)
        conditions = [
            f"with {size}, the fewest found" if size else f"after {step} steps",
            *(f"with {name}={plan.hyper[name]}" for name, x in _defaults(plan).items() if plan.hyper[name] != x),
            *([f"resumed from its state behind step {_saved_behind(plan)}"] if failure.resumed else []),
        ]
        return (
            f"{'as documented' if rule.documented else rule.name} in small cases, but not "
            f"{', '.join(conditions)}: returned {result:.9g} at step {step + 1}, "
            f"{f'tensor {tensor}, ' if len(plan.tensors) > 1 else ''}element {element}, where {wanted:.9g} is expected"
        )

    def _evidence(self, plan: CasePlan, failure: _Failing) -> dict[str, Any]:
        """Cut what is furthest off out of the case, with a script; the plan alone where that is too much."""
        part = _cut(failure)
        if part is None:
            return {"case": to_json(plan), "script": None}
        results, oracle = failure.results[: failure.step + 1, part.columns], expected(part.case)
        worst = compare(results, oracle, part.case.form)
        if worst.conforms or worst.worst is None:  # another formula explained the small cases
            return {"case": part.case.to_json(), "script": None}
        name = f"{self.target.name} {self.target.version}"
        where = largeness(plan) or f"a run of {plan.steps} steps"
        title = f"{name} on {plan.optimizer} in {plan.dtype}: part of {where}."
        shown = script(part.case, results, oracle, title=title, target=name)
        return {**evidence.located(part.case, results, oracle, worst), "script": shown}


def _saved_behind(plan: CasePlan) -> int:
    """Return the step behind which a run is saved: in its middle, or where its count is large, if it is long."""
    return plan.steps // 2 if plan.steps <= LONGEST else plan.steps - LAST


def _defaults(plan: CasePlan) -> dict[str, Any]:
    return subject_named(plan.optimizer).declaration.typical().hyper()


def _place(case: Case, column: int) -> tuple[int, int]:
    """Return which tensor a column belongs to, and its place in that tensor."""
    ends = np.cumsum([param.size for param in case.parameters])
    tensor = int(np.searchsorted(ends, column, side="right"))
    return tensor, int(column - ends[tensor] + case.parameters[tensor].size)


def _cut(failure: _Failing) -> Sample | None:
    """Cut out the elements that are furthest off, up to the first failing step; None where that is still large."""
    steps, shares = failure.step + 1, failure.shares[failure.step]
    case = failure.part.case.upto(steps)
    subject = subject_of(case)
    columns = np.arange(case.size)
    if subject.elementwise:
        columns = np.sort(np.argsort(shares)[::-1][: max(1, min(SHOWN, NUMBERS // steps, np.sum(shares > SLACK)))])
    elif not subject.joint:
        tensor, element = _place(case, int(np.argmax(shares)))
        first = int(np.argmax(shares)) - element
        columns = np.arange(first, first + case.parameters[tensor].size)
    return part_of(case, columns) if len(columns) * steps <= NUMBERS else None
