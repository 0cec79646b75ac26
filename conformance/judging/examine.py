"""Tries laws and cases on engines, and builds their verdicts; identifies what a rejected engine computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.large import large_plans
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.cases.strategies import Plan, drawn_cases
from optimetry.conformance.judging import evidence
from optimetry.conformance.judging.confirm import confirmed
from optimetry.conformance.judging.identify import Identity, identify, in_parts
from optimetry.conformance.judging.scale import contradiction
from optimetry.conformance.laws import Law, laws_of
from optimetry.conformance.naming.adapters import Mistaken
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import documented_class
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, Agreement, Expected, compare
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, engine_name, reason_unsupported, recorded_cases
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import Computes, Verdict


def judge(
    engines: Sequence[Target],
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    guard: Guard | None = None,
    before: Sequence[Case] = (),
) -> list[Verdict]:
    """Give one verdict for each engine; whatever an engine does, this does not raise. Arguments as for `examined`."""
    found = examined(engines, optimizer, dtype, effort=effort, seed=seed, guard=guard, before=before)
    return [examination.verdict() for examination in found]


def examined(
    engines: Sequence[Target],
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    guard: Guard | None = None,
    before: Sequence[Case] = (),
) -> list[Examination]:
    """Try every case on every engine, until more cases can change nothing.

    Args:
        engines: what is judged, each on the same cases if they offer the same.
        optimizer: the name of a subject: a rule or a wrapper.
        dtype: a judged dtype's name.
        effort: how many cases.
        seed: the seed of the cases; the same seed gives the same verdicts.
        guard: what watches over each run.
        before: cases that are tried before those drawn.

    Raises:
        UnknownOptimizerError: no such subject.
    """
    subject = subject_named(optimizer)
    recorded = [case for engine in engines for case in recorded_cases(engine, optimizer, dtype)]

    def cases(limits: Limits) -> Iterator[Case]:
        drawn = drawn_cases(subject, dtype, seed=seed, count=effort.cases)
        return map(limits.offered, chain(before, recorded, drawn))

    plans = list(large_plans(subject, dtype, effort.scales, seed))
    alike: dict[Limits, list[Examination]] = {}
    examinations = []
    for engine in engines:
        limits = limits_of(engine, optimizer)
        examination = Examination(engine, optimizer, dtype, partial(cases, limits), guard or Guard(), plans)
        examinations.append(examination)
        alike.setdefault(limits, []).append(examination)
    for limits, members in alike.items():
        _try_cases(members, cases(limits), effort)
    return examinations


def _try_cases(examinations: Sequence[Examination], cases: Iterable[Case], effort: Effort) -> None:
    """Try every case on engines that offer the same, until more cases can change nothing."""
    for number, case in enumerate(cases):
        trying = [examination for examination in examinations if examination.open_to(case)]
        if number < effort.law_cases:
            for examination in trying:
                examination.try_laws(case)
        trying = [examination for examination in trying if not examination.settled]
        if trying:
            oracle = expected(case)
            for examination in trying:
                examination.hold_against(case, oracle)
        if all(examination.settled for examination in examinations):
            break


@dataclass
class Examination:
    """The findings on one engine while its cases are tried.

    Attributes:
        target: the engine.
        optimizer: the subject's name.
        dtype: the dtype's name.
        cases: every case again, from the first.
        guard: what watches over its runs.
        plans: the large cases, which are tried once the others have an explanation.
        agreement: with the documented formula, over the cases tried so far.
        tried: how many those are.
        declined: why a case was not offered, if one was not.
        fault: how it broke the protocol, with the case.
        broken: a law it breaks, with what was found and the case.
        rejected: the first case outside the slack.
        explanation: what explains every case, once the verdict has been built; None where nothing does.
    """

    target: Target
    optimizer: str
    dtype: str
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    plans: Sequence[Plan] = ()
    agreement: Agreement = field(default_factory=Agreement)
    tried: int = 0
    declined: str | None = None
    fault: tuple[TargetFault, Case] | None = None
    broken: tuple[Law, str, Case] | None = None
    rejected: Case | None = None
    explanation: Explanation | None = None

    @property
    def settled(self) -> bool:
        """Whether more cases can change nothing."""
        return self.fault is not None or self.rejected is not None

    def open_to(self, case: Case) -> bool:
        """Whether a case should be tried on this engine, which offers it."""
        if self.settled:
            return False
        try:
            reason = reason_unsupported(self.target, case)
        except TargetFault as fault:
            self.fault = fault, case
            return False
        self.declined = self.declined or reason
        return reason is None

    def try_laws(self, case: Case) -> None:
        """Look for a kept buffer and a broken law, unless one is known; slow laws are tried on the first case alone."""
        if self.broken is not None:
            return
        try:
            hold_contents(self.target, case, self.guard)
            for law in laws_of(subject_named(self.optimizer)):
                found = None if law.slow and self.tried else law.broken(self.target, case, self.guard)
                if found is not None:
                    self.broken = law, found, case
                    return
        except TargetFault as fault:
            self.fault = fault, case

    def hold_against(self, case: Case, oracle: Expected) -> None:
        """Compare one run with the documented formula; where it differs, a kept buffer is looked for first."""
        try:
            agreement = compare(trajectory(self.target, case, self.guard), oracle, case.form)
            self.agreement, self.tried = self.agreement + agreement, self.tried + 1
            if not agreement.conforms:
                hold_contents(self.target, case, self.guard)  # the cases of laws may be too short to show it
                self.rejected = case
        except TargetFault as fault:
            self.fault = fault, case

    def verdict(self) -> Verdict:
        """Build the verdict; cases are run again to identify what a rejected engine computes."""
        try:
            fields = self._outcome()
            if self.explanation is not None:
                fields = self._at_scale(self.explanation) or fields
        except TargetFault as fault:
            fields = {"verdict": "error", "reason": str(fault)}
        compared = self.agreement.elements > self.agreement.vacuous
        return Verdict(
            book=subject_named(self.optimizer).book,
            optimizer=self.optimizer,
            dtype=self.dtype,
            engine=engine_name(self.target),
            share=self.agreement.share if compared else None,
            ulp=self.agreement.ulp if compared else None,
            vacuous=self.agreement.vacuous / max(self.agreement.elements, 1),
            cases=self.tried,
            untried=limits_of(self.target, self.optimizer).untried() if self.tried else [],
            **fields,
        )

    def _at_scale(self, explanation: Explanation) -> dict[str, Any] | None:
        """Return the verdict's fields if a large case contradicts what explains the others; None where none does."""
        found = contradiction(self.target, self.plans, explanation, self.guard)
        if found is None:
            return None
        self.explanation = None
        self.agreement, self.tried = self.agreement + found.agreement, self.tried + 1
        return found.fields

    def _outcome(self) -> dict[str, Any]:
        if self.fault is not None:
            fault, case = self.fault
            shown = evidence.faulty(self.target, fault, case, self.guard)
            return {"verdict": "error", "reason": str(fault), "counterexample": shown}
        if self.rejected is not None:
            return self._rejection(self.rejected)
        if self.broken is not None:
            law, found, case = self.broken
            shown = evidence.lawless(self.target, law, found, case, self.guard)
            return {"verdict": "diverges", **self._law(), "counterexample": shown}
        if self.tried == 0:
            return {"verdict": "unsupported", "reason": self.declined or "no case is offered"}
        if self.agreement.elements == self.agreement.vacuous:
            return {"verdict": "error", "reason": "nothing could be judged: every element is vacuous"}
        self.explanation = Explanation(documented_class(self.optimizer))
        return {"verdict": "conforms", "computes": Computes(rule="documented")}

    def _rejection(self, case: Case) -> dict[str, Any]:
        """Build the verdict on an engine that a case has shown not to be the documented formula, computed plainly."""
        shown = evidence.difference(self.target, case, self.guard)
        identity = self._identity()
        if self.broken is not None:
            self.broken = confirmed(self.target, self.broken, identity.explanation, self.guard)
        law = self.broken[0] if self.broken is not None and self.broken[0].universal else None
        self.explanation = explanation = identity.explanation if law is None else None
        if explanation is None:
            returned_nan = shown["given"] == "nan"
            why = self._law() if self.broken is not None and not returned_nan else {"reason": self._unexplained(shown)}
            if identity.several and self.broken is None:
                why = {"reason": f"explained equally by {' and '.join(identity.several)}: no case tells them apart"}
            partial = None if identity.several else self._in_parts(law)
            if partial is not None:
                why |= {"computes": Computes(parts=partial.parts), "reason": partial.reason}
            return {"verdict": "diverges", **why, "counterexample": shown}
        computes = Computes(explanation.rule.name, explanation.formula, False, explanation.arithmetic.record())
        if not explanation.rule.documented:
            named = {"verdict": "dialect", "dialect": explanation.rule.name}
        elif explanation.arithmetic.imprecise:
            named = {"verdict": "imprecise"}
        else:  # subnormals are flushed, and that is all
            self.agreement = identity.from_explanation
            return {"verdict": "conforms", "computes": computes}
        alike = f"; as far as it is offered, the same as {', '.join(identity.alike)}" if identity.alike else ""
        return {**named, "computes": computes, "reason": explanation.reason + alike, "counterexample": shown}

    def _identity(self) -> Identity:
        """Identify what the engine computes; the cases run for that complete the agreement."""
        identity = identify(self.target, self.optimizer, self.dtype, self.cases, self.guard)
        if identity.tried > self.tried or identity.explanation is not None:
            self.agreement, self.tried = identity.from_document, identity.tried
        return identity

    def _in_parts(self, law: Law | None) -> Mistaken | Split | None:
        """Find what explains every case in parts, such as a mistake of the adapter that breaks a universal law."""
        found = in_parts(self.target, self.optimizer, self.dtype, self.cases, self.guard, law)
        if found is None:
            return None
        partial, identity = found
        if identity.tried > self.tried:
            self.agreement, self.tried = identity.from_document, identity.tried
        return partial

    def _law(self) -> dict[str, Any]:
        """Return the fields of a broken law: its name, and the reason."""
        assert self.broken is not None
        law, found, _ = self.broken
        return {"law": law.name, "reason": f"breaks a law: {law.statement} ({law.name}: {found})"}

    def _unexplained(self, shown: dict[str, Any]) -> str:
        if shown["given"] == "nan":
            where = f"at step {shown['step']}, element {shown['element']}"
            return f"returned NaN {where}, where the documented formula gives {float(shown['documented']):.9g}"
        if self.agreement.share == LARGEST_SHARE:
            return "no known rule explains it: infinite where the rule is finite, or different where it is exact"
        return f"no known rule explains it: up to {self.agreement.share:.3g} times what rounding can"
