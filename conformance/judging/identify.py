"""Identifies what a rejected target computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.splitting import Splitting
from optimetry.conformance.laws import Law
from optimetry.conformance.laws.variations import at_steps
from optimetry.conformance.naming.candidates import arithmetics, tiers, tiers_of_mistakes, tiers_of_runs
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.points import documented_class
from optimetry.conformance.naming.precision import numbers_in_float32
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.naming.runs import surviving
from optimetry.conformance.naming.splits import Split, properties
from optimetry.conformance.numerics.agreement import Agreement, compare, explained, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory

MOST = 0.5
"""The least part of all elements that a mistake must explain by a finite bound: a rule far outside its domain, which
overflows everywhere, excludes nothing."""


FIRST = 2
"""By how many steps, of as many tensors, most mistakes are excluded."""


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
    laws: Sequence[Law],
    *,
    refuted: bool = True,
) -> tuple[Mistaken | Split, Identity] | None:
    """Find what explains every case in parts: a mistake of the adapter or of the run, or two rules and what decides.

    Args:
        target: one engine, which no candidate explains.
        probed: its results in the probes.
        cases: every case again, from the first.
        guard: what watches over its runs.
        laws: those that it breaks. With a universal one it computes no formula, but it may be a mistake that breaks it.
        refuted: whether a case refutes the documented rule; else a law alone does, and further cases may.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    search = _Search(target, cases, guard, probed)
    broken = next((law for law in laws if law.universal), None)
    if not refuted:
        return search.of_the_run(laws, broken, only_further=True)
    return search.mistaken(broken) or search.of_the_run(laws, broken) or search.outlived(broken) or search.split(broken)


C = TypeVar("C", bound=Candidate)

More = Callable[[Case], Iterator[Case]]
"""Makes further cases of a case."""


def no_more(case: Case) -> Iterator[Case]:
    """Make none."""
    return iter(())


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

    def holding_on_all(
        self, candidates: Sequence[C], more: More = no_more
    ) -> tuple[list[tuple[C, Agreement]], Identity]:
        """The same for candidates of any kind, each with its agreement; on ``more`` cases, too, made of each."""
        alive = [(one, Agreement()) for one in candidates if self.probed.explained_by(one.expected)]
        document, tried = Agreement(), 0
        for drawn in self.cases() if alive else ():
            for case in chain(more(drawn), [drawn]):
                if reason_unsupported(self.target, case) is None:
                    after = trajectory(self.target, case, self.guard)
                    if case is drawn:
                        document, tried = document + compare(after, expected(case), case.form), tried + 1
                    found = [(one, before, explained(after, one.expected(case), case.form)) for one, before in alive]
                    alive = [(one, before + agreement) for one, before, agreement in found if agreement is not None]
                if not alive:
                    return [], Identity(None, document, Agreement(), tried)
        return alive, Identity(None, document, Agreement(), tried)

    def mistaken(self, broken: Law | None) -> tuple[Mistaken, Identity] | None:
        """Find the mistake of an adapter that explains every case: of the documented rule, or else of a named one.

        Where several rules explain them with the same mistake, it makes them one rule, and the first names it.
        """
        optimizer, dtype = self.probed.optimizer, self.probed.dtype
        first = next(self._offered(), None)
        return self._first_of(tiers_of_mistakes(optimizer, dtype, first), broken) if first else None

    def of_the_run(
        self, laws: Sequence[Law], broken: Law | None, *, only_further: bool = False
    ) -> tuple[Mistaken, Identity] | None:
        """Find what the run does beside the documented rule, or beside a near one, that explains every case.

        Args:
            laws: all laws that the target breaks.
            broken: a universal law that the target breaks.
            only_further: whether to try only what further cases show, made of those drawn.
        """
        nearest = self.probed.nearest()
        tiers = tiers_of_runs(self.probed.optimizer, self.probed.dtype, nearest)
        chosen = ([one for one in tier if one.mistake.is_shown(laws)] for tier in tiers)
        return self._first_of((x for x in chosen if x and (x[0].mistake.shown_by or not only_further)), broken)

    def outlived(self, broken: Law | None) -> tuple[Mistaken, Identity] | None:
        """Find whether state outlives its run, in cases that are run twice; the documented rule explains the first."""
        documented = Explanation(documented_class(self.probed.optimizer))
        alive = [Mistaken(documented, each) for each in surviving.mistakes() if broken and each.may_break(broken)]
        refuted = False
        for case in surviving.of_fresh_sizes(self.cases()) if alive else ():
            if reason_unsupported(self.target, case) is None:
                first, second = (trajectory(self.target, case, self.guard) for _ in range(2))
                if not explains(first, documented.expected(case), case.form):
                    return None
                alive = [one for one in alive if explains(second, one.expected(case), case.form)]
                refuted = refuted or not explains(second, documented.expected(case), case.form)
        return (alive[0], Identity(None)) if alive and refuted else None

    def _first_of(self, tiers: Iterable[list[Mistaken]], broken: Law | None) -> tuple[Mistaken, Identity] | None:
        """Find the first mistake that holds on every case; it must be one alone, and the rule without it must fail."""
        case, after = self._beginning()
        for tier in tiers:
            possible = [one for one in tier if one.mistake.may_break(broken)]
            near = [one for one in possible if explains(after, one.expected(case), case.form)]
            near = [one for one in near if self.probed.explained_by(one.expected)]
            for arithmetic in arithmetics(self.probed.optimizer, self.probed.dtype) if near else ():
                more = near[0].mistake.shown_by or no_more
                holding, unexplained = self.holding_on_all([one.computed_in(arithmetic) for one in near], more)
                alive = [(one, agreement) for one, agreement in holding if agreement.judged >= MOST]
                one = min(alive, key=lambda pair: pair[1].vacuous)[0] if alive else None
                if one is not None and self._refuted(Explanation(one.rule, arithmetic), more):
                    # What says less of the cases than another excludes less, and is no rival to it.
                    least = min(agreement.vacuous for _, agreement in alive)
                    rivals = [other for other, agreement in alive if agreement.vacuous == least]
                    alone = all(self._same(one, other, more) for other in rivals)
                    return (one, unexplained) if alone else None
        return None

    def _same(self, one: Mistaken, other: Mistaken, more: More) -> bool:
        """Whether two mistakes are recorded alike, or come to the same on every case."""
        if one.mistake.is_same(other.mistake):
            return True
        cases = chain.from_iterable(chain(more(case), [case]) for case in self._offered())
        pairs = ((one.expected(case).value, other.expected(case).value) for case in cases)
        return all(bool(((a == b) | (np.isnan(a) & np.isnan(b))).all()) for a, b in pairs)

    def _beginning(self) -> tuple[Case, Array]:
        """Return a small part of a probe, or else of the first case, with the trajectory of the target."""
        case = self.probed.cases[0][0] if self.probed.runs else next(self._offered())
        few = case.only(range(min(len(case.parameters), FIRST)))
        short = at_steps(few, list(range(min(len(case.grads), FIRST))))
        return short, trajectory(self.target, short, self.guard)

    def _offered(self) -> Iterator[Case]:
        return (case for case in self.cases() if reason_unsupported(self.target, case) is None)

    def _refuted(self, explanation: Explanation, more: More) -> bool:
        """Whether a rule fails on some case, or on ``more``, where a number it makes of NaN refutes it, too."""
        if not self.holding_on_all([explanation], more)[0]:
            return True
        for case in chain.from_iterable(map(more, self.cases())):
            if reason_unsupported(self.target, case) is None:
                after = trajectory(self.target, case, self.guard)
                if np.isfinite(after)[~np.isfinite(explanation.expected(case).value)].any():
                    return True
        return False

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
