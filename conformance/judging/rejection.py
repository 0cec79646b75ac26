"""Names what a rejected engine computes, as far as it can be named.

A known rule that explains every case comes first. Where there is none, `Unexplained` makes further attempts, such as a
rule with less precision, a mistake beside a rule, or a formula that is an edit away from a known one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging import reasons
from optimetry.conformance.judging.broken import Broken, BrokenLaws, confirmed, contradicted_runs
from optimetry.conformance.judging.counterexamples import evidence
from optimetry.conformance.judging.finding import Finding
from optimetry.conformance.judging.identifying.identify import (
    identify,
    identify_combined,
    identify_computed_in,
    identify_steps,
)
from optimetry.conformance.judging.identifying.known_cases import known_cases
from optimetry.conformance.judging.identifying.narrower import Narrower
from optimetry.conformance.judging.identifying.nearest import nearest_to
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.judging.identifying.partial_explanations import decay_found, in_parts, split_found
from optimetry.conformance.judging.identifying.rare_runs import (
    RARE,
    also_explaining,
    but_for,
    contradicting,
    flushed_in_vain,
    flushing,
    is_rare,
    rare_contradiction,
)
from optimetry.conformance.judging.identifying.searching import searched
from optimetry.conformance.laws import Law
from optimetry.conformance.laws.layouts import memory_layout
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.increments import knows_increments
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.splits import Split
from optimetry.conformance.numerics.agreement import Agreement, compare, explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.reports.arithmetic import described
from optimetry.reports.results import Computes

CaseRun = tuple[Case, Array]
"""A case, and what the engine has returned in it, shape (steps, elements)."""


@dataclass
class Rejection:
    """An engine that a case or a law has rejected.

    Attributes:
        observed: the engine.
        laws: those it breaks.
        law_cases: on how many of the cases laws are tried.
        search: as for `Examination`.
        agreement: with the documented formula, over the cases tried so far.
        tried: the number of those cases.
        steady: whether it has returned the same each time, as far as that is known.
    """

    observed: Observed
    laws: BrokenLaws
    law_cases: int
    search: float | None
    agreement: Agreement
    tried: int
    steady: bool = True

    def by_a_case(self, rejected: CaseRun) -> Finding:
        """Return what is found on an engine that a case has rejected.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        rare = is_rare(self.observed, rejected[0])
        if rare:
            self.observed.required[:] = [rejected]
        identity = (flushing(self.observed) if rare else None) or self._identity(rejected)
        explanation = identity.explanation
        law = contradicting(self.observed, self.laws, explanation) if explanation else None
        if explanation is None or law is not None:
            return self._unexplained(identity, law, rejected)
        if explanation.rule.documented and (refuting := rare_contradiction(self.observed, explanation)):
            rare, rejected = True, refuting
            identity = also_explaining(self.observed, self.laws, refuting, partial(identify, self.observed))
            explanation = identity.explanation
            if explanation is None:
                return self._unexplained(identity, None, refuting)
        finding = _identified(self.observed, identity, explanation, rejected)
        return _by_a_rare_case(finding) if rare else finding

    def by_laws(self) -> Finding:
        """Return what is found on an engine that breaks laws alone.

        It may compute the documented rule with less precision, which can break a law, too.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        target, guard = self.observed.target, self.observed.guard
        for run in () if self.laws.universal else contradicted_runs(target, self.laws, guard):
            identity = self._identity(run)
            if identity.explanation and identity.explanation.rule.documented:
                return _identified(self.observed, identity, identity.explanation, run)
        first, *_ = broken = self.laws.ordered
        shown, reason = evidence.of_broken_law(target, first, guard), reasons.lawless(self.laws)
        finding = Finding(
            self.observed, self.agreement, self.tried, law=first.law.name, reason=reason, counterexample=shown
        )
        explained = in_parts(self.observed, [each.law for each in broken], refuted=False)
        return finding.in_parts(explained) if explained else finding

    def _identity(self, rejected: CaseRun) -> Identity:
        """Identify what the engine computes; the rejected run must agree, and the cases run for it count as tried.

        Where what explains all new runs does not explain that one, such as one whose thread flushed subnormals, what
        explains both is looked for.
        """
        (case, after), identity = rejected, identify(self.observed)
        explanation = identity.explanation
        if explanation is not None and not explains(after, explanation.expected(case), case.form):
            self.observed.required.append(rejected)
            identity = identify(self.observed)
            if identity.explanation is None:
                self.steady, self.observed = False, self.observed.anew()
                return Identity(None)
        if identity.tried > self.tried or identity.explanation is not None:
            self.agreement, self.tried = identity.from_document, identity.tried
        return identity

    def _unexplained(self, identity: Identity, law: Law | None, rejected: CaseRun) -> Finding:
        """Return what is found on an engine that no known rule explains; ``law`` contradicts one that seemed to."""
        target, guard = self.observed.target, self.observed.guard
        self.laws.try_remaining(target, islice(self.observed.cases(), self.law_cases), rejected[0], guard)
        contradicting = {name: each for name, each in self.laws.broken.items() if each.law is law}
        laws = replace(self.laws, broken=contradicting | confirmed(target, self.laws, None, guard).broken)
        tried = ((each, self.observed.run(each)) for each in (self.observed.first_offered() if self.steady else ()))
        nearest = nearest_to(self.observed.probed if self.steady else None, *rejected, tried)
        shown = evidence.of_difference(target, *rejected, guard, nearest.rule)
        (case, after), drawn = rejected, self.agreement.share
        share = max(drawn, compare(after, expected(case), case.form).share)  # it may be one that is never drawn
        telling, reason = reasons.unexplained(shown, share, laws, nearest)
        if identity.several and not telling:
            reason = f"explained equally by {' and '.join(identity.several)}: no case tells them apart"
        finding = Finding(self.observed, self.agreement, self.tried, law=telling, reason=reason, counterexample=shown)
        if identity.several:
            return finding
        found = Unexplained(self.observed, laws, rejected, self.steady, self.search, finding).explained()
        if found is finding and identity.explanation is not None and laws.broken:
            return finding.but_for(laws, identity, identity.explanation)
        parts = known_cases(self.observed) if self.steady and found.computes == Computes() else []
        return found.on_one_side(parts) if parts else found


@dataclass(frozen=True)
class Unexplained:
    """An engine that no known rule explains as a whole and in full precision; its methods attempt to explain it.

    Attributes:
        observed: the engine.
        laws: those it breaks, whatever it computes.
        rejected: the run that rejects it.
        steady: as for `Rejection`.
        search: as for `Examination`.
        finding: the verdict where no attempt succeeds; an attempt changes what it finds otherwise.
    """

    observed: Observed
    laws: BrokenLaws
    rejected: CaseRun
    steady: bool
    search: float | None
    finding: Finding

    def explained(self) -> Finding:
        """Return the finding of the first attempt that has one."""
        only_steady = (self.less_precise, self.in_narrower_format) if self.steady else ()
        attempts: tuple[Callable[[], Finding | None], ...] = (self.in_parts, *only_steady, self.edited)
        return next(filter(None, (attempt() for attempt in attempts)), self.finding)

    def in_parts(self) -> Finding | None:
        """Explain it by a mistake of the adapter or of the run, or by two rules and what decides between them.

        How arrays lie is beside the point, since those of the cases lie in rows; it is said as well, unless it follows.
        """
        laws = [each.law for each in self.laws.ordered]
        explained = in_parts(self.observed, [law for law in laws if law.check is not memory_layout])
        if explained is None:
            return None
        finding, unexplained = self.finding.in_parts(explained), self._unexplained_by(explained[0])
        if not unexplained:
            return finding
        reason = f"{finding.reason}; {reasons.lawless(replace(self.laws, broken=unexplained))}"
        return replace(finding, verdict="diverges", reason=reason)

    def _unexplained_by(self, partial: Mistaken | Split) -> dict[str, Broken]:
        """Return the broken laws that do not follow from parts; what only loses digits breaks few of its rule's."""
        broken = {name: each for name, each in self.laws.broken.items() if each.law.check is memory_layout}
        if not isinstance(partial, Mistaken):
            return broken
        if partial.imprecise:
            broken |= confirmed(self.observed.target, self.laws, partial, self.observed.guard).broken
        return {name: each for name, each in broken.items() if each.law.check not in partial.mistake.breaks}

    def less_precise(self) -> Finding | None:
        """Explain it by a known rule that is computed with less precision."""
        identity = self._less_precisely()
        explanation = identity.explanation
        if explanation is None or contradicting(self.observed, self.laws, explanation):
            return None
        if explanation.rule.documented and (rare := rare_contradiction(self.observed, explanation)):
            other = also_explaining(self.observed, self.laws, rare, self._less_precisely)
            if other.explanation is None:
                return self._but_for(rare, explanation)
            return _by_a_rare_case(_identified(self.observed, other, other.explanation, rare))
        narrower = None if explanation.rule.documented else explanation.arithmetic.computed_in
        shown = Narrower(self.observed, narrower).shown() if narrower else {}
        return _identified(self.observed, identity, explanation, self.rejected, shown.get("counterexample"))

    def _less_precisely(self) -> Identity:
        """Identify what the engine computes in a narrower format, or with steps or combined numbers in float32."""
        identity = identify_computed_in(self.observed, self.rejected)
        for identify_as in (identify_steps, identify_combined):
            identity = identity if identity.explanation else identify_as(self.observed)
        return identity

    def _but_for(self, rare: CaseRun, explanation: Explanation) -> Finding:
        """Return the finding where an explanation of every drawn case does not explain a rare one."""
        nearest = nearest_to(self.observed.probed, *rare, ())
        contradicted = [explanation.expected]
        shown = evidence.of_difference(self.observed.target, *rare, self.observed.guard, also=contradicted)
        law, reason = reasons.unexplained(shown, self.finding.agreement.share, self.laws, nearest)
        return replace(self.finding, law=law, reason=f"{reason}; elsewhere {explanation.reason}", counterexample=shown)

    def in_narrower_format(self) -> Finding | None:
        """Explain it by a mistake, or by a formula that is declared nowhere, of a target of a narrower format."""
        there = Narrower.of(self.observed, self.rejected)
        if there is None:
            return None
        if mistaken := there.mistaken():
            finding, ways = self.finding.in_parts(mistaken), mistaken[0].explanation.arithmetic.record()
            reason = "; ".join([finding.reason, *map(described, ways)])
            finding = replace(finding, computes=replace(finding.computes, arithmetic=ways), reason=reason)
        else:
            result = None if self.search is None else there.searched(self.search)
            if result is None or contradicting(self.observed, self.laws, result.formulas[0].explanation):
                return None
            finding = self.finding.searched(result)
        return replace(finding, law=None, **there.shown())

    def edited(self) -> Finding | None:
        """Search for a formula that is declared nowhere, then for parts that the search for known ones leaves out."""
        if self.search is None or self.laws.universal:
            return None
        result = searched(self.observed, self.search)
        if result.formulas:
            return self.finding.searched(result)
        budget = result.budget
        for find in () if budget.interrupted else (split_found, decay_found):
            if explained := find(self.observed):
                return self.finding.in_parts(explained)
        near = f"; the nearest of them, {budget.best}, does not explain every case" if budget.best else ""
        return replace(self.finding, reason=self.finding.reason + budget.ending + near) if budget.ended else None


def _identified(
    observed: Observed,
    identity: Identity,
    explanation: Explanation,
    rejected: CaseRun,
    shown: dict[str, Any] | None = None,
) -> Finding:
    """Return what is found on an engine that an explanation holds for; ``shown`` stands for its counterexample."""
    rule = explanation.rule
    ways, holds_but = (explanation.arithmetic, "") if rule.documented else _also_rarely(observed, explanation)
    said = "; ".join(filter(None, [Explanation(rule, ways).reason, holds_but]))
    computes = Computes(rule.name, explanation.formula, False, ways.record(), same_as=list(identity.elsewhere))
    finding = Finding(observed, identity.from_document, identity.tried, computes=computes, explanation=explanation)
    if rule.documented and not ways.imprecise:  # subnormals are flushed, and that is all
        return replace(finding, verdict="conforms", agreement=identity.from_explanation)
    alike = f"; as far as it is offered, the same as {' and as '.join(identity.alike)}" if identity.alike else ""
    return replace(
        finding,
        verdict="imprecise" if rule.documented else "dialect",
        dialect=None if rule.documented else rule.name,
        reason=said + alike,
        counterexample=shown or evidence.of_difference(observed.target, *rejected, observed.guard),
    )


def _also_rarely(observed: Observed, explanation: Explanation) -> tuple[Arithmetic, str]:
    """Return how a dialect is computed that explains all drawn cases, and what is rare that it does not explain."""
    rule, ways = explanation.rule, explanation.arithmetic
    if flushed_in_vain(observed, explanation):
        ways = replace(ways, flushes_subnormals=False)
    holds_but = but_for(observed, Explanation(rule, ways))
    formed = Explanation(rule, replace(ways, incremental_moments=True))
    able = holds_but and knows_increments(rule.computed)
    if able and not but_for(observed, formed) and observed.holding(formed):
        return formed.arithmetic, ""  # with a decay of 0 an increment loses digits that no drawn case shows
    return ways, holds_but


def _by_a_rare_case(finding: Finding) -> Finding:
    """Let the reason say that a case which is never drawn decides; a target that conforms has none."""
    return replace(finding, reason=f"{finding.reason}; {RARE}") if finding.reason else finding
