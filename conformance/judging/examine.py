"""Tries laws and cases on engines, and builds their verdicts; identifies what a rejected engine computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging import evidence, reasons
from optimetry.conformance.judging.broken import BrokenLaws
from optimetry.conformance.judging.identify import Identity, identify
from optimetry.conformance.judging.nearest import Nearest, nearest_to
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.points import documented_class
from optimetry.conformance.naming.probes import probes_of
from optimetry.conformance.numerics.agreement import Agreement, Expected, compare, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.protocol import Target, engine_name, reason_unsupported
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
    """Try every case on every engine, until more cases can change nothing; all engines have the same cases.

    Args:
        engines: what is judged, each on the same cases.
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

    def cases() -> Iterator[Case]:
        return chain(before, drawn_cases(subject, dtype, seed=seed, count=effort.cases))

    watch, laws = guard or Guard(), effort.law_cases
    examinations = [Examination(engine, optimizer, dtype, cases, watch, laws) for engine in engines]
    for number, case in enumerate(cases()):
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
    for probe in probes_of(optimizer, dtype):
        for examination in examinations:
            if examination.open_to(probe):
                examination.hold_against(probe, expected(probe), drawn=False)
    return examinations


@dataclass
class Examination:
    """The findings on one engine while its cases are tried.

    Attributes:
        target: the engine.
        optimizer: the subject's name.
        dtype: the dtype's name.
        cases: every case again, from the first.
        guard: what watches over its runs.
        law_cases: on how many of the cases laws are tried.
        agreement: with the documented formula, over the cases tried so far.
        tried: how many those are.
        declined: why a case was not offered, if one was not.
        fault: how it broke the protocol, with the case.
        laws: those it breaks.
        rejected: the first case outside the slack, with the trajectory.
        explanation: what explains every case, once the verdict has been built; None where nothing does.
        nearest: the nearest rule, once the verdict has been built, where nothing explains every case.
    """

    target: Target
    optimizer: str
    dtype: str
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    law_cases: int = 0
    agreement: Agreement = field(default_factory=Agreement)
    tried: int = 0
    declined: str | None = None
    fault: tuple[TargetFault, Case] | None = None
    laws: BrokenLaws = field(default_factory=BrokenLaws)
    rejected: tuple[Case, Array] | None = None
    explanation: Explanation | None = None
    nearest: Nearest | None = None

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
        except Exception as error:
            self.fault = TargetFault(f"unsupported() raised {type(error).__name__}: {error}"), case
            return False
        self.declined = self.declined or reason
        return reason is None

    def try_laws(self, case: Case) -> None:
        """Look for a kept buffer and for broken laws."""
        try:
            hold_contents(self.target, case, self.guard)
            self.laws.try_on(self.target, case, self.guard)
        except TargetFault as fault:
            self.fault = fault, case

    def hold_against(self, case: Case, oracle: Expected, *, drawn: bool = True) -> None:
        """Compare one run with the documented formula; where it differs, a kept buffer is looked for first.

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
            **fields,
        )

    def _outcome(self) -> dict[str, Any]:
        if self.fault is not None:
            fault, case = self.fault
            shown = evidence.faulty(self.target, fault, case, self.guard)
            return {"verdict": "error", "reason": str(fault), "counterexample": shown}
        if self.rejected is not None:
            return self._rejection(*self.rejected)
        if self.laws.broken:
            first, reason = self.laws.ordered[0], reasons.lawless(self.laws)
            shown = evidence.lawless(self.target, first, self.guard)
            return {"verdict": "diverges", "law": first.law.name, "reason": reason, "counterexample": shown}
        if self.tried == 0:
            return {"verdict": "unsupported", "reason": self.declined or "no case is offered"}
        if self.agreement.elements == self.agreement.vacuous:
            return {"verdict": "error", "reason": "nothing could be judged: every element is vacuous"}
        self.explanation = Explanation(documented_class(self.optimizer))
        return {"verdict": "conforms", "computes": Computes(rule="documented")}

    def _rejection(self, case: Case, after: Array) -> dict[str, Any]:
        """Build the verdict on an engine that a case has shown not to be the documented formula, computed plainly."""
        identity = Identity(None) if self.laws.universal else self._identity(case, after)
        self.explanation = explanation = identity.explanation
        if explanation is None:
            self._try_remaining_laws(case)
            self.nearest = nearest_to(identity.probed, case, after)
            shown = evidence.difference(self.target, case, after, self.guard, self.nearest.rule)
            law, reason = reasons.unexplained(shown, self.agreement.share, self.laws, self.nearest)
            return {"verdict": "diverges", "law": law, "reason": reason, "counterexample": shown}
        computes = Computes(explanation.rule.name, explanation.formula, False, explanation.arithmetic.record())
        if not explanation.rule.documented:
            named = {"verdict": "dialect", "dialect": explanation.rule.name}
        elif explanation.arithmetic.imprecise:
            named = {"verdict": "imprecise"}
        else:  # subnormals are flushed, and that is all
            self.agreement = identity.from_explanation
            return {"verdict": "conforms", "computes": computes}
        shown = evidence.difference(self.target, case, after, self.guard)
        return {**named, "computes": computes, "reason": explanation.reason, "counterexample": shown}

    def _identity(self, case: Case, after: Array) -> Identity:
        """Identify what the engine computes, in the rejected run too; the cases run for that complete the agreement."""
        identity = identify(self.target, self.optimizer, self.dtype, self.cases, self.guard)
        found = identity.explanation
        if found is not None and not explains(after, found.expected(case), case.form):
            return Identity(None)  # what it computes differs each time
        if identity.tried > self.tried or identity.explanation is not None:
            self.agreement, self.tried = identity.from_document, identity.tried
        return identity

    def _try_remaining_laws(self, rejected: Case) -> None:
        """Try the laws on the rejected case, and on those of their cases that would have come after it."""
        with suppress(TargetFault):  # the rejection stands
            for case in chain([rejected], islice(self.cases(), self.laws.cases, self.law_cases)):
                if reason_unsupported(self.target, case) is None:
                    self.laws.try_on(self.target, case, self.guard)
