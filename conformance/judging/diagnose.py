"""Explains how a target differs from its document: which formula, computed how, or only rounding.

The verdict is the judge's, from the same examination. The probes add how far the target is from every class of its
family, and its first divergence from the nearest one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.judging.counterexamples.divergence import Divergence, first_divergence
from optimetry.conformance.judging.counterexamples.worked import Worked, worked
from optimetry.conformance.judging.effect import default_case, effect
from optimetry.conformance.judging.examination import Examination
from optimetry.conformance.judging.examine import examined
from optimetry.conformance.judging.identifying.searching import SearchResult
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import PointClass, documented_class
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.naming.search.rivals import Telling
from optimetry.conformance.numerics.agreement import Agreement
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reports.parts import complete
from optimetry.reports.results import Verdict


@dataclass(frozen=True)
class FoundFormula:
    """A formula that nobody has declared, near a known one, which explains every case.

    Attributes:
        start: the name of the known formula.
        changes: the edits.
        lines: each line of the formula that differs, before and after.
        cases: how many cases it explains: all that were tried, probes aside.
        programs: how many formulas were tried.
        ending: how the search was cut short; empty where it was not.
        rivals: the names of other formulas that explain every case, each with a case that would tell them apart.
        drawn: how many cases were searched for such a case.
    """

    start: str
    changes: str
    lines: tuple[tuple[str, str], ...]
    cases: int
    programs: int
    ending: str = ""
    rivals: tuple[tuple[str, Telling | None], ...] = ()
    drawn: int = 0


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one engine of a target, for one subject in one dtype.

    Attributes:
        verdict: the judge's.
        explanation: what explains the target on every case, the documented formula included; None where nothing does.
        ranking: every class of the family with the target's agreement in the probes, the nearest first.
        probed: the target's results in the probes, None where they were not run.
        divergence: the target's first divergence, if nothing known explains it as a whole: from the nearest class, or
            from the document where parts explain it, or a formula that was found.
        found: where nothing known explains it, the edited formula that does.
        worked: one element of a rejected target in two formulas: the document, and what explains it or comes nearest.
        effect: with `found`, how far apart parameters end with default hyperparameters, see `effect`.
    """

    verdict: Verdict
    explanation: Explanation | None = None
    ranking: tuple[tuple[PointClass, Agreement], ...] = ()
    probed: Probed | None = None
    divergence: Divergence | None = None
    found: FoundFormula | None = None
    worked: Worked | None = None
    effect: float | None = None

    @property
    def nearest(self) -> PointClass | None:
        """The class with the smallest error ratio, None where no probe was run."""
        return self.ranking[0][0] if self.ranking else None

    @property
    def named(self) -> bool:
        """Whether a formula that was found, or parts, say what is computed, so that no nearest class is needed."""
        return bool(self.found or complete(self.verdict.computes.parts))


def diagnose(
    engines: Sequence[Target],
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    guard: Guard | None = None,
    search: float | None = 0.0,
) -> list[Diagnosis]:
    """Return one diagnosis for each engine, with the verdict that `judge` gives for the same arguments."""
    with default_environment():  # as `judge` does
        examinations = examined(engines, optimizer, dtype, effort=effort, seed=seed, guard=guard, search=search)
        return [_diagnosis(examination) for examination in examinations]


def _diagnosis(examination: Examination) -> Diagnosis:
    verdict = examination.verdict()
    if verdict.verdict in ("unsupported", "error"):
        return Diagnosis(verdict)
    target, guard, finding = examination.target, examination.guard, examination.finding
    known = Diagnosis(verdict, None if verdict.computes.found else examination.explanation)
    if finding is not None and finding.search_result is not None and verdict.computes.found:
        known = dataclasses.replace(known, found=_formula(finding.search_result))
    with suppress(TargetFault):  # too late to change the verdict: the diagnosis ends with what is known by then
        probed = finding.observed.probed if finding else Probed.of(target, verdict.optimizer, verdict.dtype, guard)
        known = dataclasses.replace(known, ranking=tuple(probed.agreements), probed=probed)
        if known.explanation is None:
            known = dataclasses.replace(known, divergence=_divergence(target, known, guard))
            if known.found and isinstance(subject_named(verdict.optimizer), RuleSubject):
                apart = effect(target, default_case(verdict.optimizer, verdict.dtype, 1.0), guard)
                known = dataclasses.replace(known, effect=apart)
        if verdict.verdict != "conforms":
            known = dataclasses.replace(known, worked=_worked(examination, known))
    return known


def _formula(result: SearchResult) -> FoundFormula:
    """Reduce a found formula to what can be sent to another process."""
    edited, budget = result.formulas[0], result.budget
    return FoundFormula(
        start=edited.start.name,
        changes=edited.changes,
        lines=tuple(edited.lines),
        cases=result.identity.tried,
        programs=budget.programs,
        ending=budget.ending,
        rivals=tuple((rival.formula.name, rival.telling) for rival in result.rivals),
        drawn=result.drawn,
    )


def _worked(examination: Examination, known: Diagnosis) -> Worked | None:
    """Work one element through two formulas, the documented one and the explanation or the nearest rule.

    The element is one of the counterexample, or else of a probe.
    """
    nearest = known.nearest or documented_class(known.verdict.optimizer)
    partial = examination.finding.partial if examination.finding else None
    other = examination.explanation or partial or Explanation(nearest)
    named = str(known.verdict.computes) or f"nearest: {nearest.name}"
    same = other == Explanation(documented_class(known.verdict.optimizer))
    return worked(examination.target, _cases(known)[::-1], other, "" if same else named, examination.guard)


def _divergence(target: Target, known: Diagnosis, guard: Guard) -> Divergence | None:
    """Find the first divergence from the nearest class or the document: in a probe, or else in the counterexample."""
    document = documented_class(known.verdict.optimizer)
    rule = document if known.named else known.nearest or document
    for case in _cases(known):
        divergence = first_divergence(target, case, rule.of(case.hyper), guard)
        if divergence is not None:
            return divergence
    return None


def _cases(known: Diagnosis) -> list[Case]:
    """Return the probes, and behind them the counterexample."""
    cases: list[Case] = [case for case, _ in known.probed.cases] if known.probed else []
    counterexample: dict[str, Any] = known.verdict.counterexample or {}
    if "case" in counterexample and "plan" not in counterexample:  # what fails at a large size alone
        cases.append(Case.from_json(counterexample["case"]))
    return cases
