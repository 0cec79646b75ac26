"""Searches for a formula that nobody has declared and that explains every case of a target."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.identifying.identify import ENOUGH
from optimetry.conformance.judging.identifying.observed import Identity, Observed
from optimetry.conformance.judging.identifying.rare_runs import rare_contradiction
from optimetry.conformance.naming.candidates import ways_of
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.elsewhere import starts_elsewhere
from optimetry.conformance.naming.known.points import PointClass, documented_class, named_classes
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.edited import Edited
from optimetry.conformance.naming.search.fed import Runs
from optimetry.conformance.naming.search.over_edits import JUDGED, MOST_EDITS, edited_formulas, explains_most
from optimetry.conformance.naming.search.rivals import Rival, candidates_of, told_apart
from optimetry.conformance.naming.search.telling import neutral_cases, telling_cases
from optimetry.conformance.numerics.agreement import SLACK, compare, explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import same_bits
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reference.declaration import Hyperparameter

NEAR = 4
"""How many known formulas, those nearest to a target, are edited beside the documented one."""


@dataclass(frozen=True)
class SearchResult:
    """Formulas that nobody has declared, each an edit of a known one, which explain every case equally.

    Attributes:
        formulas: the formulas, the simplest first; none where the search found none.
        identity: what is known of the first.
        budget: what the search cost.
        rivals: those beside the first that explain the target as well.
        drawn: how many cases might have told them apart.
    """

    formulas: tuple[Edited, ...]
    identity: Identity
    budget: Budget
    rivals: tuple[Rival, ...] = ()
    drawn: int = 0

    @property
    def equally(self) -> str:
        """What else explains the target, for a verdict's reason; empty where nothing does."""
        names = " and ".join(rival.formula.name for rival in self.rivals)
        return f"; explained equally by {names}" if names else ""


def searched(observed: Observed, seconds: float) -> SearchResult:
    """Search for formulas near the documented one, or near the nearest known ones, that explain every case.

    Args:
        observed: one engine, which nothing known explains.
        seconds: how long two to four edits may take; one is always tried, more only where this is not 0.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    asked = observed.optimizer, observed.dtype, observed.limits
    budget = Budget(seconds, observed.guard.heartbeat, observed.guard.searching)
    runs = _runs(observed, telling_cases(*asked))
    document_fails = not explains_most(Explanation(documented_class(observed.optimizer)), runs)
    if not document_fails:  # a run must refute the document: else edits that change nothing in any would explain all
        runs = [*runs[:1], *refuting, *runs[1:]] if (refuting := _refuting(observed)) else []
    if not runs:
        return SearchResult((), Identity(None), budget)
    identities: dict[Explanation, Identity | None] = {}

    def holds(explanation: Explanation) -> bool:
        identities[explanation] = _identity_of(explanation, observed)
        return identities[explanation] is not None

    most, telling = MOST_EDITS if seconds else 1, candidates_of(*asked)
    counts = STEP_COUNTS if observed.probed.counts_otherwise else ()
    starts = _starts(observed, runs)

    def formulas_in(runs: Runs) -> list[Edited]:
        neutral = (_runs(observed, part) for part in neutral_cases(*asked))
        return edited_formulas(starts, runs, holds, budget, most, telling, neutral, counts, observed.held)

    matches = formulas_in(runs)
    if not matches and identities and document_fails:  # formulas explain these runs, and not all others
        more = _refuting(observed)
        matches = formulas_in([*runs, *more]) if more else []

    def takes(case: Case) -> bool:
        return not observed.limits.lacking(case) and observed.offers(case)

    def refuted(formula: Edited, case: Case) -> bool:
        return not explains(observed.run_anew(case), formula.explanation.expected(case), case.form)

    formulas, rivals = told_apart(matches, telling, takes, refuted)
    identity = identities[formulas[0].explanation] if formulas else None
    few = identity and not formulas[0].edits and identity.tried < ENOUGH
    if formulas and rare_contradiction(observed, formulas[0].explanation):
        formulas, identity = _computed_otherwise(observed, formulas)
    if few or identity is None:
        identity, formulas, rivals = None, [], []
    return SearchResult(tuple(formulas), identity or Identity(None), budget, tuple(rivals), len(telling))


def _identity_of(explanation: Explanation, observed: Observed) -> Identity | None:
    """Return what is known of a found formula; None where it does not hold in every probe and case, or says little."""
    identity = observed.holding(explanation)
    return identity if identity and says_enough(identity) else None


def says_enough(identity: Identity) -> bool:
    """Whether a formula bounds half as many elements as the document does: what bounds few explains anything."""
    return identity.from_explanation.judged >= JUDGED * identity.from_document.judged


def _computed_otherwise(observed: Observed, formulas: list[Edited]) -> tuple[list[Edited], Identity | None]:
    """Return formulas in the first way that explains rare cases, too: drawn ones seldom tell flushing or increments.

    None, and nothing known, where there is no such way.
    """
    for way in ways_of(observed.optimizer):
        others = [_computed(formula, way) for formula in formulas]
        if others != formulas and not rare_contradiction(observed, others[0].explanation):
            identity = _identity_of(others[0].explanation, observed)
            if identity is not None:
                return others, identity
    return [], None


def _computed(formula: Edited, way: Arithmetic) -> Edited:
    """Return a formula with subnormals and moments in another way, and what is held in float32 as it was."""
    flushes, increments = way.flushes_subnormals, way.incremental_moments
    arithmetic = dataclasses.replace(formula.arithmetic, flushes_subnormals=flushes, incremental_moments=increments)
    return dataclasses.replace(formula, arithmetic=arithmetic)


def _runs(observed: Observed, cases: Iterable[Case]) -> Runs:
    """Return the cases that the engine offers, with its runs, which are made once."""
    return [(case, observed.run(case)) for case in observed.offered(cases)]


def _refuting(observed: Observed) -> Runs:
    """Return the drawn case with every gradient that contradicts the document most, with its run.

    None of a wrapper, which is searched on tensors of one size.
    """
    if not isinstance(subject_named(observed.optimizer), RuleSubject):
        return []
    document = Explanation(documented_class(observed.optimizer))
    complete = (case for case in observed.offered(observed.cases()) if all(x is not None for x in chain(*case.grads)))
    runs = [(case, observed.run(case)) for case in complete]
    shares = [compare(after, document.expected(case), case.form).share for case, after in runs]
    most = int(np.argmax(shares)) if runs else 0
    return runs[most : most + 1] if any(share > SLACK for share in shares) else []


def _starts(observed: Observed, runs: Runs) -> list[PointClass]:
    """Return the documented formula, the nearest ones, the named ones, and those of other rules.

    A formula of another rule may lack a number that the target does not use.
    """
    optimizer = observed.optimizer
    near = [rule for rule, _ in observed.probed.agreements if not rule.documented][:NEAR]
    unused = {x.name for x in subject_named(optimizer).hyperparameters() if _unused(observed, x, runs)}
    elsewhere = starts_elsewhere(optimizer, observed.pinned | unused)
    return list(dict.fromkeys([documented_class(optimizer), *near, *named_classes(optimizer), *elsewhere]))


def _unused(observed: Observed, number: Hyperparameter, runs: Runs) -> bool:
    """Whether a target gives the same bits, in every run, with another value of a hyperparameter."""
    for case, after in runs:
        for value in number.corners:
            other = case.replace(hyper={**case.hyper, number.name: value})
            offered = value != case.hyper[number.name] and observed.offers(other)
            if offered and not same_bits(observed.run_anew(other), after):
                return False
    return bool(number.corners)
