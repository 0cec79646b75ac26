"""What is found on a rejected engine, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from optimetry.conformance.judging import reasons
from optimetry.conformance.judging.broken import BrokenLaws
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.judging.identifying.searching import SearchResult
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import Agreement
from optimetry.conformance.targets.limits import constants_of
from optimetry.reports.parts import Part
from optimetry.reports.results import FOUND, Computes, Outcome


@dataclass(frozen=True)
class Finding:
    """The verdict on a rejected engine, and what it rests on.

    Attributes:
        observed: the engine.
        agreement: with the documented formula, over the cases tried so far.
        tried: the number of those cases.
        verdict, law, computes, dialect, reason, counterexample: as for `Verdict`.
        explanation: what explains every case; None where nothing does.
        partial: what explains every case in parts; None where nothing does.
        search_result: the search that found the formula; None where the formula is known, or there is none.
    """

    observed: Observed
    agreement: Agreement
    tried: int
    verdict: Outcome = "diverges"
    law: str | None = None
    computes: Computes = field(default_factory=Computes)
    dialect: str | None = None
    reason: str = ""
    counterexample: dict[str, Any] | None = None
    explanation: Explanation | None = None
    partial: Mistaken | Split | None = None
    search_result: SearchResult | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The verdict's fields."""
        names = ("verdict", "law", "computes", "dialect", "reason", "counterexample")
        return {name: getattr(self, name) for name in names}

    def but_for(self, laws: BrokenLaws, identity: Identity, explanation: Explanation) -> Finding:
        """Return this with what explains every drawn case, though it keeps laws that are broken."""
        law, reason = laws.ordered[0].law.name, reasons.but_for_laws(laws, explanation)
        finding = replace(self, law=law, reason=reason)
        if explanation.rule.documented:  # with subnormals flushed, or less precisely
            return replace(finding, agreement=identity.from_explanation)
        return replace(finding, computes=Computes(parts=[Part(explanation.rule.name)]))

    def in_parts(self, explained: tuple[Mistaken | Split, Identity]) -> Finding:
        """Return this with what explains every case in parts, such as a mistake that breaks a universal law."""
        partial, identity = explained
        reason = reasons.held_otherwise(partial, constants_of(self.observed.limits)) or partial.reason
        verdict: Outcome = "imprecise" if isinstance(partial, Mistaken) and partial.imprecise else self.verdict
        computes = Computes(parts=partial.parts)
        finding = replace(self, verdict=verdict, computes=computes, reason=reason, partial=partial)
        if identity.tried <= self.tried:
            return finding
        return replace(finding, agreement=identity.from_document, tried=identity.tried)

    def on_one_side(self, parts: list[Part]) -> Finding:
        """Return this with a known rule that explains some cases, which the last part names, and no others."""
        reason = f"{self.reason}; computes {parts[-1].words}"
        return replace(self, computes=replace(self.computes, parts=parts), reason=reason)

    def searched(self, result: SearchResult) -> Finding:
        """Return this with the formula that a search has found."""
        formula, identity = result.formulas[0], result.identity
        return replace(
            self,
            agreement=identity.from_document,
            tried=identity.tried,
            verdict="dialect",
            computes=Computes(None, formula.name, True, formula.arithmetic.record()),
            dialect=FOUND,
            reason=formula.reason + result.equally + result.budget.ending,
            explanation=formula.explanation,
            search_result=result,
        )
