"""Finds what explains a target in parts: a mistake of the adapter or of the run, or two rules and what decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.holding import Holding, Identity, More, no_more
from optimetry.conformance.judging.splitting import Splitting
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.candidates import arithmetics, tiers_of_mistakes, tiers_of_runs
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.naming.points import documented_class, named_classes
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.naming.runs import decay, surviving
from optimetry.conformance.naming.splits import Split, properties
from optimetry.conformance.numerics.agreement import Agreement, compare, explained, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, trajectory

MOST = 0.5
"""The least part of all elements that a mistake must explain by a finite bound: a rule far outside its domain, which
overflows everywhere, excludes nothing."""


FIRST = 2
"""By how many steps, of as many tensors, most mistakes are excluded."""

FEW = 8
"""Among how many cases one is looked for in which bounds are finite: where gradients are subnormal, few are."""


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
    parts = _Parts(target, cases, guard, probed)
    broken = next((law for law in laws if law.universal), None)
    if not refuted:
        return parts.of_the_run(laws, broken, only_further=True)
    return parts.mistaken(broken) or parts.of_the_run(laws, broken) or parts.outlived(broken) or parts.split(broken)


def split_found(
    target: Target, probed: Probed, cases: Callable[[], Iterator[Case]], guard: Guard
) -> tuple[Split, Identity] | None:
    """Find a property that decides between a known rule and one that is an edit away from it; arguments as above.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    return _Parts(target, cases, guard, probed).split_found()


def decay_found(
    target: Target, probed: Probed, cases: Callable[[], Iterator[Case]], guard: Guard
) -> tuple[Mistaken | Split, Identity] | None:
    """Find another place of a weight decay that explains every case; arguments as above.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    return _Parts(target, cases, guard, probed).decayed()


@dataclass(frozen=True)
class _Parts(Holding):
    """Tries what explains a target in parts, one kind after the other."""

    def mistaken(self, broken: Law | None) -> tuple[Mistaken, Identity] | None:
        """Find the mistake of an adapter that explains every case: of the documented rule, or else of a named one.

        Where several rules explain them with the same mistake, it makes them one rule, and the first names it.
        """
        optimizer, dtype = self.probed.optimizer, self.probed.dtype
        first = next(self.offered(self.cases()), None)
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

    def decayed(self) -> tuple[Mistaken, Identity] | None:
        """Find another place of the decay of the documented rule that explains every case."""
        optimizer, dtype = self.probed.optimizer, self.probed.dtype
        widest = Explanation(documented_class(optimizer), arithmetics(optimizer, dtype)[-1])
        places = [Mistaken(widest, one) for one in decay.placed_otherwise(subject_named(optimizer))]
        return self._first_of([places], None)

    def outlived(self, broken: Law | None) -> tuple[Mistaken, Identity] | None:
        """Find whether state outlives its run, in cases that are run twice; the documented rule explains the first."""
        documented = Explanation(documented_class(self.probed.optimizer))
        alive = [Mistaken(documented, each) for each in surviving.mistakes() if broken and each.may_break(broken)]
        refuted = False
        for case in self.offered(surviving.of_fresh_sizes(self.cases())) if alive else ():
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
            near = [one for one in possible if _tells(explained(after, one.expected(case), case.form))]
            near = [one for one in near if self.probed.explained_by(one.expected)]
            more = near[0].mistake.shown_by or no_more if near else no_more
            for arithmetic in arithmetics(self.probed.optimizer, self.probed.dtype) if near else ():
                standing = self.standing([one.computed_in(arithmetic) for one in near])
                alive, unexplained = self.holding_on_all(standing, more, MOST)
                near = [one for one in near if one.computed_in(arithmetic) not in self.silent]
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
        cases = chain.from_iterable(chain(more(case), [case]) for case in self.offered(self.cases()))
        pairs = ((one.expected(case).value, other.expected(case).value) for case in cases)
        return all(bool(((a == b) | (np.isnan(a) & np.isnan(b))).all()) for a, b in pairs)

    def _beginning(self) -> tuple[Case, Array]:
        """Return a small part of a probe, or else of the first case that tells, with the trajectory of the target."""
        if self.probed.runs:
            return self._first_steps(self.probed.cases[0][0])
        begun = map(self._first_steps, islice(self.offered(self.cases()), FEW))
        first = next(begun)
        return next((x for x in chain([first], begun) if _tells(compare(x[1], expected(x[0]), x[0].form))), first)

    def _first_steps(self, case: Case) -> tuple[Case, Array]:
        short = _shortened(case)
        return short, trajectory(self.target, short, self.guard)

    def _refuted(self, explanation: Explanation, more: More) -> bool:
        """Whether a rule fails on some case, or on ``more``, where a number it makes of NaN refutes it, too."""
        if not self.holding_on_all([explanation], more)[0]:
            return True
        for case in self.offered(chain.from_iterable(map(more, self.cases()))):
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

    def split_found(self) -> tuple[Split, Identity] | None:
        """Find a property that decides between a known rule and one that is an edit away from it."""
        optimizer, dtype = self.probed.optimizer, self.probed.dtype
        subject = subject_named(optimizer)
        known = [Explanation(one) for one in (documented_class(optimizer), *named_classes(optimizer))]
        for split in Splitting(self.target, subject, dtype, self.guard).found(list(properties(subject)), known):
            alive, unexplained = self.holding_on_all([split])
            if alive:
                return split, unexplained
        return None


@lru_cache(maxsize=256)
def _shortened(case: Case) -> Case:
    """Return the first steps of the first tensors of a case: one case, so that what mistakes give is evaluated once."""
    return case.only(range(min(len(case.parameters), FIRST))).upto(FIRST)


def _tells(agreement: Agreement | None) -> bool:
    """Whether something explains a case with finite bounds on most of its elements, so that it might have failed."""
    return agreement is not None and agreement.vacuous <= (1 - MOST) * agreement.elements
