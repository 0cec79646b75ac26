"""Names what a rejected engine computes, as far as it can be named.

Tried from the simplest on: a known rule, perhaps with less precision; such a rule in parts, as where a run also does
something else; and at last a formula that is an edit away from a known one. The first that explains every case is
the verdict's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging import evidence, reasons
from optimetry.conformance.judging.broken import BrokenLaws, confirmed, contradicted_runs
from optimetry.conformance.judging.identify import identify, identify_combined, identify_computed_in, identify_steps
from optimetry.conformance.judging.narrower import Narrower
from optimetry.conformance.judging.nearest import nearest_to
from optimetry.conformance.judging.observed import Identity, Observed
from optimetry.conformance.judging.parts import decay_found, in_parts, split_found
from optimetry.conformance.judging.searching import SearchResult, searched
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import Agreement, compare, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.rare import rare_cases
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reports.arithmetic import described
from optimetry.reports.results import FOUND, Computes


@dataclass
class Rejection:
    """The findings on an engine that a case or a law has rejected.

    Attributes:
        observed: the engine.
        laws: those it breaks.
        law_cases: on how many of the cases laws are tried.
        search: as for `Examination`.
        agreement: with the documented formula, over the cases tried so far.
        tried: the number of those cases.
        steady: whether it has returned the same each time, as far as that is known.
        explanation: what explains every case; None where nothing does.
        partial: what explains every case in parts; None where nothing does.
        search_result: that of the search for a formula, where nothing known explains every case.
    """

    observed: Observed
    laws: BrokenLaws
    law_cases: int
    search: float | None
    agreement: Agreement
    tried: int
    steady: bool = True
    explanation: Explanation | None = None
    partial: Mistaken | Split | None = None
    search_result: SearchResult | None = None

    def by_a_case(self, case: Case, after: Array) -> dict[str, Any]:
        """Return the verdict's fields on an engine that a case has rejected.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        identity = self._identity(case, after)
        explanation, law = self._lawful(identity.explanation)
        if explanation is None:
            return self._unexplained(identity, law, case, after)
        if explanation.rule.documented and (rare := self._rare_contradiction(explanation)):
            return self._unexplained(Identity(None), None, *rare)
        return self._identified(identity, explanation, case, after)

    def by_laws(self) -> dict[str, Any]:
        """Return the verdict's fields on an engine that breaks laws alone.

        It may compute the documented rule with less precision, which can break a law, too.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        target, guard = self.observed.target, self.observed.guard
        for case, after in () if self.laws.universal else contradicted_runs(target, self.laws, guard):
            identity = self._identity(case, after)
            if identity.explanation and identity.explanation.rule.documented:
                return self._identified(identity, identity.explanation, case, after)
        first = self.laws.ordered[0]
        shown = evidence.lawless(target, first, guard)
        fields = {"verdict": "diverges", "law": first.law.name, "counterexample": shown}
        return {**fields, "reason": reasons.lawless(self.laws), **self._in_parts(refuted=False)}

    def _identity(self, case: Case, after: Array) -> Identity:
        """Identify what the engine computes; the rejected run must agree, and the cases run for it count as tried."""
        identity = identify(self.observed)
        explanation = identity.explanation
        if explanation is not None and not explains(after, explanation.expected(case), case.form):
            self.steady, self.observed = False, self.observed.anew()
            return Identity(None)
        if identity.tried > self.tried or identity.explanation is not None:
            self.agreement, self.tried = identity.from_document, identity.tried
        return identity

    def _rare_contradiction(self, explanation: Explanation) -> tuple[Case, Array] | None:
        """Return a case that is never drawn, with the run that an explanation of all drawn cases does not explain."""
        rare = rare_cases(subject_named(self.observed.optimizer), self.observed.dtype)
        for case in self.observed.offered(map(self.observed.limits.offered, rare)):
            after = self.observed.run(case)
            if not compare(after, explanation.expected(case), case.form).conforms:
                return case, after
        return None

    def _lawful(self, explanation: Explanation | None) -> tuple[Explanation | None, Law | None]:
        """Return an explanation that breaks no law beyond its rounding; else None, and the law that is broken."""
        if explanation is None or not self.laws.broken:
            return explanation, None
        broken = confirmed(self.observed.target, self.laws, explanation, self.observed.guard)
        return (None, broken.ordered[0].law) if broken.broken else (explanation, None)

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
        return fields | (shown or {"counterexample": self._shown(case, after)})

    def _unexplained(self, identity: Identity, law: Law | None, case: Case, after: Array) -> dict[str, Any]:
        """Build the verdict on an engine that no known rule explains as a whole and in full precision."""
        target, guard = self.observed.target, self.observed.guard
        self.laws.try_remaining(target, islice(self.observed.cases(), self.law_cases), case, guard)
        wide = confirmed(target, self.laws, None, guard)
        self.laws = BrokenLaws(self.laws.only(law).broken | wide.broken, self.laws.cases, self.laws.engines)
        tried = ((each, self.observed.run(each)) for each in (self.observed.first_offered() if self.steady else ()))
        nearest = nearest_to(self.observed.probed if self.steady else None, case, after, tried)
        shown = self._shown(case, after, nearest.rule)
        telling, reason = reasons.unexplained(shown, self.agreement.share, self.laws, nearest)
        fields: dict[str, Any] = {"verdict": "diverges", "law": telling, "reason": reason, "counterexample": shown}
        if identity.several:
            alike = " and ".join(identity.several)
            return fields | ({} if telling else {"reason": f"explained equally by {alike}: no case tells them apart"})
        named = self._in_parts()
        if self.steady:
            named = named or self._less_precise(case, after) or self._narrower(case, after)
        return fields | (named or self._searched(reason))

    def _in_parts(self, *, refuted: bool = True) -> dict[str, Any]:
        """Return the verdict's fields on what explains every case in parts; none where nothing does."""
        laws = [each.law for each in self.laws.ordered]
        return self._of_parts(in_parts(self.observed, laws, refuted=refuted))

    def _less_precise(self, case: Case, after: Array) -> dict[str, Any]:
        """Return the verdict's fields where a rule that is computed with less precision explains every case."""
        identity = identify_computed_in(self.observed, (case, after))
        if identity.explanation is None:
            identity = identify_steps(self.observed)
        if identity.explanation is None:
            identity = identify_combined(self.observed)
        explanation, _ = self._lawful(identity.explanation)
        if explanation is None:
            return {}
        self.agreement, self.tried = identity.from_document, identity.tried
        narrower = None if explanation.rule.documented else explanation.arithmetic.computed_in
        shown = Narrower(self.observed, narrower).shown() if narrower else None
        return {"law": None, **self._identified(identity, explanation, case, after, shown)}

    def _narrower(self, case: Case, after: Array) -> dict[str, Any]:
        """Return the verdict's fields where the engine is explained as a target of a narrower format."""
        there = Narrower.of(self.observed, (case, after))
        if there is None:
            return {}
        if mistaken := there.mistaken():
            fields, ways = self._of_parts(mistaken), mistaken[0].explanation.arithmetic.record()
            reason = "; ".join([fields["reason"], *map(described, ways)])
            named = {"computes": replace(fields["computes"], arithmetic=ways), "reason": reason}
        else:
            result = None if self.search is None else there.searched(self.search)
            if result is None or self._lawful(result.formulas[0].explanation)[0] is None:
                return {}
            self.search_result, named = result, self._of_formula(result)
        return {"law": None, **named, **there.shown()}

    def _searched(self, reason: str) -> dict[str, Any]:
        """Search for a formula that is declared nowhere; return the verdict's fields if one explains every case."""
        if self.search is None or self.laws.universal:
            return {}
        self.search_result = searched(self.observed, self.search)
        budget = self.search_result.budget
        if self.search_result.formulas:
            return self._of_formula(self.search_result)
        for find in () if budget.interrupted else (split_found, decay_found):
            if parts := self._of_parts(find(self.observed)):
                return parts
        near = f"; the nearest of them, {budget.best}, does not explain every case" if budget.best else ""
        return {"reason": reason + budget.ending + near} if budget.ended else {}

    def _of_formula(self, result: SearchResult) -> dict[str, Any]:
        """Return the verdict's fields on a formula that a search has found."""
        formula, identity = result.formulas[0], result.identity
        self.explanation, self.agreement, self.tried = formula.explanation, identity.from_document, identity.tried
        return {
            "verdict": "dialect",
            "dialect": FOUND,
            "computes": Computes(None, formula.name, True, formula.arithmetic.record()),
            "reason": formula.reason + result.equally + result.budget.ending,
        }

    def _of_parts(self, explained: tuple[Mistaken | Split, Identity] | None) -> dict[str, Any]:
        """Return the verdict's fields on parts that were found, such as a mistake that breaks a universal law."""
        if explained is None:
            return {}
        self.partial, identity = explained
        if identity.tried > self.tried:
            self.agreement, self.tried = identity.from_document, identity.tried
        return {"computes": Computes(parts=self.partial.parts), "reason": self.partial.reason}

    def _shown(self, case: Case, after: Array, nearest: PointClass | None = None) -> dict[str, Any]:
        """Make the counterexample, which contradicts the nearest rule, too, where there is one."""
        return evidence.difference(self.observed.target, case, after, self.observed.guard, nearest)
