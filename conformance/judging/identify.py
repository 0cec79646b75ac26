"""Identifies what a rejected target computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.splitting import Splitting
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.adapters import Mistaken
from optimetry.conformance.naming.candidates import arithmetics, tiers, tiers_of_mistakes
from optimetry.conformance.naming.edited import Edited
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.nearby import Budget
from optimetry.conformance.naming.points import documented_class
from optimetry.conformance.naming.precision import numbers_in_float32
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.naming.search import edited_formulas
from optimetry.conformance.naming.splits import Split, properties
from optimetry.conformance.naming.telling import telling_cases
from optimetry.conformance.numerics.agreement import Agreement, compare, explained
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory

MOST = 0.5
"""The least part of all elements that a mistake must explain by a finite bound: a rule far outside its domain, which
overflows everywhere, excludes nothing."""


@dataclass(frozen=True)
class Identity:
    """What a target computes, as far as it was identified.

    Attributes:
        explanation: which formula and how, None where nothing known explains every case, or several do.
        from_document: how far it is from the documented formula, over the cases that were tried for it.
        from_explanation: how far it is from what explains it.
        tried: the number of those cases.
        alike: other rules that are the same for all hyperparameters that the target offers.
        several: where several explain every case and nothing tells them apart, their names.
        probed: the results in the probes.
    """

    explanation: Explanation | None
    from_document: Agreement = field(default_factory=Agreement)
    from_explanation: Agreement = field(default_factory=Agreement)
    tried: int = 0
    alike: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    probed: Probed | None = None


def identify(target: Target, optimizer: str, dtype: str, cases: Callable[[], Iterator[Case]], guard: Guard) -> Identity:
    """Try the tiers of candidates; the first in which any holds decides, and it must be one alone.

    Where the target does not offer all hyperparameters, rules may be the same that differ elsewhere: the one that
    differs from the document in the fewest choices stands for them.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    search = _Search(target, cases, guard, Probed.of(target, optimizer, dtype, guard))
    longest = Identity(None, probed=search.probed)
    for tier in tiers(optimizer, dtype, search.probed):
        alive, unexplained = search.surviving(tier)
        if unexplained.tried > longest.tried:
            longest = dataclasses.replace(unexplained, probed=search.probed)
        alive = _with_fewest_numbers(alive)
        if len(alive) > 1 and not search.restricted:
            return dataclasses.replace(
                longest, several=tuple(one.explanation.rule.name for one in alive if one.explanation)
            )
        if alive:
            found, *others = sorted(alive, key=_choices)
            alike = (other.explanation.rule.name for other in others if other.explanation)
            return dataclasses.replace(search.narrowed(found), alike=tuple(dict.fromkeys(alike)))
    return longest


def in_parts(
    target: Target,
    probed: Probed,
    cases: Callable[[], Iterator[Case]],
    guard: Guard,
    broken: Law | None,
) -> tuple[Mistaken | Split, Identity] | None:
    """Find what explains every case in parts: a mistake of the adapter, or two explanations and what decides.

    Args:
        target: one engine, which no candidate explains.
        probed: its results in the probes.
        cases: every case again, from the first.
        guard: what watches over its runs.
        broken: a universal law that it breaks: it computes no formula then, but it may be a mistake that breaks it.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    search = _Search(target, cases, guard, probed)
    return search.mistaken(broken) or search.split(broken)


@dataclass(frozen=True)
class Found:
    """Formulas that nobody has declared, each an edit of a known one, which explain every case equally.

    Attributes:
        formulas: the formulas, the simplest first; none where the search found none.
        identity: what is known of the first.
        budget: what the search cost.
    """

    formulas: tuple[Edited, ...]
    identity: Identity
    budget: Budget


def searched(
    target: Target, probed: Probed, cases: Callable[[], Iterator[Case]], guard: Guard, seconds: float
) -> Found:
    """Search for formulas near the documented one, or near the nearest known ones, that explain every case.

    Args:
        target: one engine, which nothing known explains.
        probed: its results in the probes.
        cases: every case again, from the first.
        guard: what watches over its runs.
        seconds: what two edits may cost; one is always tried, and two where this is not 0.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    search, identities = _Search(target, cases, guard, probed), {}
    offered = [
        case
        for case in telling_cases(probed.optimizer, probed.dtype, probed.limits)
        if reason_unsupported(target, case) is None
    ]
    runs = [(case, trajectory(target, case, guard)) for case in offered]

    def holds(explanation: Explanation) -> bool:
        identities[explanation] = search.holding(explanation)
        return identities[explanation] is not None

    document = documented_class(probed.optimizer)
    near = [rule for rule, _ in probed.agreements() if not rule.documented][:NEAR]
    budget = Budget(seconds, guard.heartbeat)
    formulas = edited_formulas([document, *near], runs, holds, budget, 2 if seconds else 1) if runs else []
    identity = identities[formulas[0].explanation] if formulas else None
    return Found(tuple(formulas), identity or Identity(None), budget)


NEAR = 4
"""How many known formulas, those nearest to a target, are edited beside the documented one."""

C = TypeVar("C", bound=Candidate)


def _with_fewest_numbers(alive: Sequence[Identity]) -> list[Identity]:
    """Leave out what holds more numbers in float32 than another that explains as much: the cases tell no difference."""
    known = [one.explanation for one in alive if one.explanation is not None]
    return [one for one in alive if one.explanation and not any(map(one.explanation.holds_more_than, known))]


def _choices(identity: Identity) -> int:
    """Return in how many choices a rule differs from the document."""
    return len(identity.explanation.rule.point) if identity.explanation else 0


@dataclass(frozen=True)
class _Search:
    """Holds candidates against the probes and cases of one target."""

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    probed: Probed

    @property
    def restricted(self) -> bool:
        """Whether the target declines hyperparameters that the document has."""
        bounds = limits_of(self.target, self.probed.optimizer).bounds
        return bounds or any(reason_unsupported(self.target, case) is not None for case in self.cases())

    def surviving(self, candidates: Sequence[Explanation]) -> tuple[list[Identity], Identity]:
        """The candidates that hold in every probe and on every case, and how far the document is in those tried."""
        alive, unexplained = self.holding_on_all(candidates)
        document, tried = unexplained.from_document, unexplained.tried
        return [Identity(one, document, agreement, tried) for one, agreement in alive], unexplained

    def holding_on_all(self, candidates: Sequence[C]) -> tuple[list[tuple[C, Agreement]], Identity]:
        """The same for candidates of any kind, each with its agreement."""
        alive = [(one, Agreement()) for one in candidates if self.probed.explained_by(one.expected)]
        document, tried = Agreement(), 0
        for case in self.cases() if alive else ():
            if reason_unsupported(self.target, case) is None:
                after = trajectory(self.target, case, self.guard)
                document, tried = document + compare(after, expected(case), case.form), tried + 1
                found = [(one, before, explained(after, one.expected(case), case.form)) for one, before in alive]
                alive = [(one, before + agreement) for one, before, agreement in found if agreement is not None]
            if not alive:
                break
        return alive, Identity(None, document, Agreement(), tried)

    def mistaken(self, broken: Law | None) -> tuple[Mistaken, Identity] | None:
        """Find the mistake of an adapter that explains every case: of the documented rule, or else of a named one.

        Where several rules explain them with the same mistake, it makes them one rule, and the first names it.
        """
        optimizer, dtype = self.probed.optimizer, self.probed.dtype
        first = next((case for case in self.cases() if reason_unsupported(self.target, case) is None), None)
        for tier in tiers_of_mistakes(optimizer, dtype, first) if first else ():
            near = [one for one in tier if one.mistake.may_break(broken) and self.probed.explained_by(one.expected)]
            for arithmetic in arithmetics(optimizer, dtype) if near else ():
                holding, unexplained = self.holding_on_all([one.computed_in(arithmetic) for one in near])
                alive = [(one, agreement) for one, agreement in holding if agreement.judged >= MOST]
                if alive:
                    one = alive[0][0]
                    alone = all(other.mistake is one.mistake for other, _ in alive)
                    apart = not self.holding_on_all([Explanation(one.rule, arithmetic)])[0]
                    return (one, unexplained) if alone and apart else None
        return None

    def split(self, broken: Law | None) -> tuple[Split, Identity] | None:
        """Find the simplest property that decides between two explanations, which hold on every case together."""
        optimizer, dtype = self.probed.optimizer, self.probed.dtype
        subject = subject_named(optimizer)
        chosen = [by for by in properties(subject) if by.may_break(broken)]
        splitting = Splitting(self.target, subject, dtype, self.guard)
        for arithmetic in arithmetics(optimizer, dtype) if chosen else ():
            for split in splitting.splits(arithmetic, chosen):
                alive, unexplained = self.holding_on_all([split])
                if alive:
                    return split, unexplained
        return None

    def holding(self, explanation: Explanation) -> Identity | None:
        """What is known of an explanation that holds in every probe and on every case; None if it does not."""
        identities, _ = self.surviving([explanation])
        return identities[0] if identities else None

    def narrowed(self, identity: Identity) -> Identity:
        """The same with as few numbers held in float32 as the probes, or else the cases, show."""
        explanation = identity.explanation
        assert explanation is not None
        names = explanation.arithmetic.float32_in_some_uses
        if not names:
            return identity
        shown = numbers_in_float32(self.target, explanation.rule, self.guard)
        if shown.float32 and not shown.float32_in_some_uses:
            found = self.holding(explanation.with_numbers(shown.float32))
            if found is not None:
                return found
        for name in names:
            fewer = tuple(other for other in names if other != name)
            found = self.holding(explanation.with_numbers((), fewer)) if fewer else None
            if found is not None:
                identity, names = found, fewer
        throughout: tuple[str, ...] = ()
        for name in names:
            others = tuple(other for other in names if other not in (*throughout, name))
            found = self.holding(explanation.with_numbers((*throughout, name), others))
            if found is not None:
                identity, throughout = found, (*throughout, name)
        return identity
