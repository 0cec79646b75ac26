"""Holds one engine against laws and cases, and builds its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.cases.strategies import CasePlan
from optimetry.conformance.harness.python_harness import engine_name
from optimetry.conformance.judging import reasons
from optimetry.conformance.judging.broken import BrokenLaws
from optimetry.conformance.judging.counterexamples import evidence
from optimetry.conformance.judging.finding import Finding
from optimetry.conformance.judging.identifying.observed import FEW, Observed
from optimetry.conformance.judging.rejection import Rejection
from optimetry.conformance.judging.scale import contradiction
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.numerics.agreement import Agreement, Expected, compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import Computes, Verdict


@dataclass
class Examination:
    """The findings on one engine while its cases are tried.

    Attributes:
        target: the engine.
        optimizer: the subject's name.
        dtype: the dtype's name.
        cases: yields every case, from the first.
        guard: what watches over its runs.
        law_cases: on how many of the cases laws are tried.
        search: seconds that a search for two to four edits may take; with 0 one edit is tried, with None none.
        plans: the large cases, which are tried once the others have an explanation.
        agreement: with the documented formula, over the cases tried so far.
        tried: the number of those cases.
        declined: why the first case that was not offered was not; None where all were.
        refused: how many cases were not offered.
        fault: how it broke the protocol, with the case.
        laws: those it breaks.
        rejected: the first case outside the slack, with the trajectory.
        explanation: what explains every case, once the verdict has been built; None where nothing does.
        finding: what is found on a rejected engine, once the verdict has been built.
    """

    target: Target
    optimizer: str
    dtype: str
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    law_cases: int = 0
    search: float | None = 0.0
    plans: Sequence[CasePlan] = ()
    agreement: Agreement = field(default_factory=Agreement)
    tried: int = 0
    declined: str | None = None
    refused: int = 0
    fault: tuple[TargetFault, Case] | None = None
    laws: BrokenLaws = field(default_factory=BrokenLaws)
    rejected: tuple[Case, Array] | None = None
    explanation: Explanation | None = None
    finding: Finding | None = None

    @property
    def settled(self) -> bool:
        """Whether more cases can change nothing."""
        return self.fault is not None or self.rejected is not None

    def takes(self, case: Case) -> bool:
        """Whether a case is tried on this engine: it offers the case, which can change something; note it if not."""
        if self.settled:
            return False
        try:
            reason = reason_unsupported(self.target, case)
        except TargetFault as fault:
            self.fault = fault, case
            return False
        self.declined, self.refused = self.declined or reason, self.refused + (reason is not None)
        return reason is None

    def try_laws(self, case: Case) -> None:
        """Look for a kept buffer and for broken laws."""
        try:
            hold_contents(self.target, case, self.guard)
            self.laws.try_on(self.target, case, self.guard)
        except TargetFault as fault:
            self.fault = fault, fault.case or case

    def hold_against(self, case: Case, oracle: Expected, *, drawn: bool = True) -> None:
        """Compare one run with the documented formula; where they differ, first look for a kept buffer as the cause.

        Args:
            case: what the target is fed.
            oracle: the documented formula's value.
            drawn: whether it counts among the cases that the verdict rests on; a probe does not.
        """
        try:
            after = trajectory(self.target, case, self.guard)
            agreement = compare(after, oracle, case.form)
            if drawn or not agreement.conforms:
                self.agreement, self.tried = self.agreement + agreement, self.tried + 1
            if not agreement.conforms:
                hold_contents(self.target, case, self.guard)  # the cases of laws may be too short to show it
                self.rejected = case, after
        except TargetFault as fault:
            self.fault = fault, case

    def verdict(self) -> Verdict:
        """Build the verdict; cases are run again to identify what a rejected engine computes."""
        try:
            fields = self._outcome()
            if self.explanation is not None:
                fields = self._at_scale(self.explanation) or fields
        except TargetFault as fault:
            fields = self._ended_by(fault, fault.case)
        limits = limits_of(self.target, self.optimizer)
        if fields["verdict"] in ("conforms", "imprecise") and (little := reasons.too_little(self.agreement, limits)):
            fields = {"verdict": "error", "reason": little}
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
            untried=self._untried(limits),
            **fields,
        )

    def _untried(self, limits: Limits) -> list[str]:
        """Return what was not tried; what the target declines case by case, where that is most."""
        mostly = self.refused > self.tried and not hasattr(self.target, "recorded")
        declined = [f"what it declines, which is most ({self.declined})"] if mostly else []
        return [*limits.untried(), *declined] if self.tried else []

    def _at_scale(self, explanation: Explanation) -> dict[str, Any] | None:
        """Return the verdict's fields if a large case contradicts what explains the others; None where none does."""
        failure = contradiction(self.target, self.plans, explanation, self.guard)
        if failure is None:
            return None
        self.explanation = None
        self.agreement, self.tried = self.agreement + failure.agreement, self.tried + 1
        return failure.fields

    def _look_for_a_kept_buffer(self) -> None:
        """Try a rejected target on a few of its cases: that which rejects it may be too short to show a kept buffer."""
        long = (case for case in self.cases() if len(case.grads) > 1)
        for case in islice(long, FEW):
            try:
                if reason_unsupported(self.target, case) is None:
                    hold_contents(self.target, case, self.guard)
            except TargetFault as fault:
                self.fault = fault, case
                break

    def _outcome(self) -> dict[str, Any]:
        if self.fault is None and (self.rejected is not None or self.laws.broken):
            self._look_for_a_kept_buffer()
        if self.fault is not None:
            return self._ended_by(*self.fault)
        if self.rejected is not None or self.laws.broken:
            return self._rejection()
        if self.tried == 0:
            return {"verdict": "unsupported", "reason": self.declined or "no case is offered"}
        self.explanation = Explanation(documented_class(self.optimizer))
        return {"verdict": "conforms", "computes": Computes(rule="documented")}

    def _ended_by(self, fault: TargetFault, case: Case | None) -> dict[str, Any]:
        """Return the verdict's fields on an engine that breaks the protocol, with the case where that is known."""
        shown = None if case is None else evidence.of_fault(self.target, fault, case, self.guard)
        return {"verdict": "error", "reason": str(fault), "counterexample": shown}

    def _rejection(self) -> dict[str, Any]:
        """Return the verdict's fields on an engine that a case or a law has rejected."""
        observed = Observed.of(self.target, self.optimizer, self.dtype, self.cases, self.guard)
        rejection = Rejection(observed, self.laws, self.law_cases, self.search, self.agreement, self.tried)
        found = rejection.by_laws() if self.rejected is None else rejection.by_a_case(self.rejected)
        self.finding = found
        self.explanation, self.agreement, self.tried = found.explanation, found.agreement, found.tried
        return found.fields
