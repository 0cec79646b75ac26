"""Holds one engine against laws and cases, and builds its verdict; identifies what a rejected engine computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import Plan
from optimetry.conformance.judging import evidence, reasons
from optimetry.conformance.judging.broken import BrokenLaws, confirmed, contradicted_runs
from optimetry.conformance.judging.holding import Identity
from optimetry.conformance.judging.identify import identify, identify_combined, identify_computed_in
from optimetry.conformance.judging.narrower import Narrower
from optimetry.conformance.judging.nearest import Nearest, nearest_to
from optimetry.conformance.judging.parts import decay_found, in_parts, split_found
from optimetry.conformance.judging.scale import contradiction
from optimetry.conformance.judging.searching import Found, searched
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.points import documented_class
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import Agreement, Expected, compare, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, engine_name, reason_unsupported
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetFault
from optimetry.reports.arithmetic import described
from optimetry.reports.results import FOUND, Computes, Verdict


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
        search: seconds that a search for a formula with two edits may take; with 0 one edit is tried, with None none.
        plans: the large cases, which are tried once the others have an explanation.
        agreement: with the documented formula, over the cases tried so far.
        tried: how many those are.
        declined: why a case was not offered, if one was not.
        fault: how it broke the protocol, with the case.
        laws: those it breaks.
        rejected: the first case outside the slack, with the trajectory.
        explanation: what explains every case, once the verdict has been built; None where nothing does.
        partial: what explains every case in parts, once the verdict has been built; None where nothing does.
        nearest: the nearest rule, once the verdict has been built, where nothing explains every case.
        found: what the search for a formula found, where nothing known explains every case.
    """

    target: Target
    optimizer: str
    dtype: str
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    law_cases: int = 0
    search: float | None = 0.0
    plans: Sequence[Plan] = ()
    agreement: Agreement = field(default_factory=Agreement)
    tried: int = 0
    declined: str | None = None
    fault: tuple[TargetFault, Case] | None = None
    laws: BrokenLaws = field(default_factory=BrokenLaws)
    rejected: tuple[Case, Array] | None = None
    explanation: Explanation | None = None
    partial: Mistaken | Split | None = None
    nearest: Nearest | None = None
    found: Found | None = None

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
        """Look for a kept buffer and for broken laws."""
        try:
            hold_contents(self.target, case, self.guard)
            self.laws.try_on(self.target, case, self.guard)
        except TargetFault as fault:
            self.fault = fault, case

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
            fields = {"verdict": "error", "reason": str(fault)}
        if fields["verdict"] in ("conforms", "imprecise") and (little := reasons.too_little(self.agreement)):
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
            return self._rejection(*self.rejected)
        if self.laws.broken:
            return self._less_precise() or self._lawless()
        if self.tried == 0:
            return {"verdict": "unsupported", "reason": self.declined or "no case is offered"}
        self.explanation = Explanation(documented_class(self.optimizer))
        return {"verdict": "conforms", "computes": Computes(rule="documented")}

    def _less_precise(self) -> dict[str, Any]:
        """Return the verdict's fields where the documented rule, computed with less precision, breaks a law so, too."""
        runs = () if self.laws.universal else contradicted_runs(self.target, self.laws, self.guard)
        for case, after in runs:
            identity = self._identity(case, after)
            if identity.explanation and identity.explanation.rule.documented:
                return self._identified(identity, identity.explanation, case, after)
        return {}

    def _lawless(self) -> dict[str, Any]:
        """Return the verdict's fields on an engine that breaks laws alone."""
        first = self.laws.ordered[0]
        shown = evidence.lawless(self.target, first, self.guard)
        fields = {"verdict": "diverges", "law": first.law.name, "counterexample": shown}
        return {**fields, "reason": reasons.lawless(self.laws), **self._partial(None, refuted=False)}

    def _rejection(self, case: Case, after: Array) -> dict[str, Any]:
        """Build the verdict on an engine that a case has rejected: identify what it computes instead."""
        identity = self._identity(case, after)
        explanation, law = self._lawful(identity.explanation)
        if explanation is None:
            return self._unexplained(identity, law, case, after)
        return self._identified(identity, explanation, case, after)

    def _identified(
        self, identity: Identity, explanation: Explanation, case: Case, after: Array, shown: Any = None
    ) -> dict[str, Any]:
        """Build the verdict on an engine that an explanation holds for; ``shown`` stands for its counterexample."""
        self.explanation = explanation
        ways, elsewhere = explanation.arithmetic.record(), list(identity.elsewhere)
        computes = Computes(explanation.rule.name, explanation.formula, False, ways, same_as=elsewhere)
        if not explanation.rule.documented:
            named = {"verdict": "dialect", "dialect": explanation.rule.name}
        elif explanation.arithmetic.imprecise:
            named = {"verdict": "imprecise"}
        else:  # subnormals are flushed, and that is all
            self.agreement = identity.from_explanation
            return {"verdict": "conforms", "computes": computes}
        alike = f"; as far as it is offered, the same as {', '.join(identity.alike)}" if identity.alike else ""
        fields = {**named, "computes": computes, "reason": explanation.reason + alike}
        return fields | (shown or {"counterexample": evidence.difference(self.target, case, after, self.guard)})

    def _lawful(self, explanation: Explanation | None) -> tuple[Explanation | None, Law | None]:
        """Return an explanation that breaks no law beyond its rounding; else None, and the law that is broken."""
        if explanation is None or not self.laws.broken:
            return explanation, None
        broken = confirmed(self.target, self.laws, explanation, self.guard)
        return (None, broken.ordered[0].law) if broken.broken else (explanation, None)

    def _unexplained(self, identity: Identity, law: Law | None, case: Case, after: Array) -> dict[str, Any]:
        """Build the verdict on an engine that no single known rule explains."""
        self.laws.try_remaining(self.target, islice(self.cases(), self.law_cases), case, self.guard)
        wide = confirmed(self.target, self.laws, None, self.guard)
        self.laws = BrokenLaws(self.laws.only(law).broken | wide.broken, self.laws.cases, self.laws.engines)
        self.nearest = nearest_to(identity.probed, case, after)
        shown = evidence.difference(self.target, case, after, self.guard, self.nearest.rule)
        telling, reason = reasons.unexplained(shown, self.agreement.share, self.laws, self.nearest)
        fields: dict[str, Any] = {"verdict": "diverges", "law": telling, "reason": reason, "counterexample": shown}
        if identity.several:
            alike = " and ".join(identity.several)
            return fields | ({} if telling else {"reason": f"explained equally by {alike}: no case tells them apart"})
        probed = identity.probed
        named = self._partial(probed) or self._imprecise(probed, case, after) or self._narrower(probed, case, after)
        return fields | (named or self._searched(probed, reason))

    def _imprecise(self, probed: Probed | None, case: Case, after: Array) -> dict[str, Any]:
        """Return the verdict's fields where a rule explains every case that computes with less precision."""
        if probed is None:
            return {}
        identity = identify_computed_in(self.target, probed, self.cases, self.guard, (case, after))
        if identity.explanation is None:
            identity = identify_combined(self.target, probed, self.cases, self.guard)
        explanation, _ = self._lawful(identity.explanation)
        if explanation is None:
            return {}
        self.agreement, self.tried = identity.from_document, identity.tried
        narrower = None if explanation.rule.documented else explanation.arithmetic.computed_in
        shown = Narrower(self.target, probed, self.cases, self.guard, narrower).shown() if narrower else None
        return {"law": None, **self._identified(identity, explanation, case, after, shown)}

    def _searched(self, probed: Probed | None, reason: str) -> dict[str, Any]:
        """Search for a formula that is declared nowhere; return the verdict's fields if one explains every case."""
        if self.search is None or self.laws.universal:
            return {}
        known = probed or Probed.of(self.target, self.optimizer, self.dtype, self.guard)
        self.found = searched(self.target, known, self.cases, self.guard, self.search)
        budget = self.found.budget
        if not self.found.formulas:
            for find in () if budget.interrupted else (split_found, decay_found):
                parts = self._of_parts(find(self.target, known, self.cases, self.guard))
                if parts:
                    return parts
            near = f"; the nearest of them, {budget.best}, does not explain every case" if budget.best else ""
            return {"reason": reason + budget.ending + near} if budget.ended else {}
        return self._of_formula(self.found)

    def _narrower(self, probed: Probed | None, case: Case, after: Array) -> dict[str, Any]:
        """Return the verdict's fields where what computes in a narrower format is explained as a target of that."""
        there = Narrower.of(self.target, probed, self.cases, self.guard, (case, after)) if probed else None
        if there is None:
            return {}
        if mistaken := there.mistaken():
            fields, ways = self._of_parts(mistaken), mistaken[0].explanation.arithmetic.record()
            said = "; ".join([fields["reason"], *map(described, ways)])
            named = {"computes": replace(fields["computes"], arithmetic=ways), "reason": said}
        else:
            found = None if self.search is None else there.searched(self.search)
            if found is None or self._lawful(found.formulas[0].explanation)[0] is None:
                return {}
            self.found, named = found, self._of_formula(found)
        return {"law": None, **named, **there.shown()}

    def _of_formula(self, found: Found) -> dict[str, Any]:
        """Return the verdict's fields on a formula that a search has found."""
        formula, identity = found.formulas[0], found.identity
        self.explanation, self.agreement, self.tried = formula.explanation, identity.from_document, identity.tried
        return {
            "verdict": "dialect",
            "dialect": FOUND,
            "computes": Computes(None, formula.name, True, formula.arithmetic.record()),
            "reason": formula.reason + found.equally + found.budget.ending,
        }

    def _identity(self, case: Case, after: Array) -> Identity:
        """Identify what the engine computes; the rejected run must agree, and the cases run for it count as tried."""
        identity = identify(self.target, self.optimizer, self.dtype, self.cases, self.guard)
        found = identity.explanation
        if found is not None and not explains(after, found.expected(case), case.form):
            return Identity(None)  # what it computes differs each time
        if identity.tried > self.tried or identity.explanation is not None:
            self.agreement, self.tried = identity.from_document, identity.tried
        return identity

    def _partial(self, probed: Probed | None, *, refuted: bool = True) -> dict[str, Any]:
        """Return the verdict's fields on what explains every case in parts; none where nothing does."""
        laws = [each.law for each in self.laws.ordered]
        known = probed or Probed.of(self.target, self.optimizer, self.dtype, self.guard)
        return self._of_parts(in_parts(self.target, known, self.cases, self.guard, laws, refuted=refuted))

    def _of_parts(self, found: tuple[Mistaken | Split, Identity] | None) -> dict[str, Any]:
        """Return the verdict's fields on parts that were found, such as a mistake that breaks a universal law."""
        if found is None:
            return {}
        self.partial, identity = found
        if identity.tried > self.tried:
            self.agreement, self.tried = identity.from_document, identity.tried
        return {"computes": Computes(parts=self.partial.parts), "reason": self.partial.reason}
