"""Searches for a split: a property of cases or tensors, with one explanation where it holds and another elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.fed import runs_of
from optimetry.conformance.naming.search.over_edits import edited_formulas
from optimetry.conformance.naming.search.telling import telling_cases
from optimetry.conformance.naming.sides import pairs_of_sides
from optimetry.conformance.naming.splits import Property, Side, Split
from optimetry.conformance.numerics.agreement import Expected, explains
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.errors import TargetFault

DRAWN = 80
"""How many cases the evidence is taken from."""

LONGEST, LARGEST = 8, 40
"""The most steps that a case of the evidence has, and the most elements of its tensors."""

TELLING = 5
"""How many cases of each side must refute the explanation of the other side: drawn, and switched from the other."""

SIDES = 3
"""How many known rules that explain one side are kept while the other side is searched for."""


@lru_cache(maxsize=32)
def short_cases(subject: Subject, dtype: str) -> tuple[Case, ...]:
    """Return the cases that splits are judged on: short, and with one small tensor unless tensors depend on another."""
    short = [case for case in drawn_cases(subject, dtype, seed=0, count=DRAWN) if len(case.grads) <= LONGEST]
    if subject.joint:
        return tuple(short)
    alone = [case.only([i]) for case in short for i in range(len(case.parameters))]
    return tuple(case for case in alone if 0 < case.size <= LARGEST)


@lru_cache(maxsize=4096)
def _expected(side: Side, case: Case) -> Expected:
    return side.expected(case)


@dataclass
class Splitting:
    """What is known of an engine on the cases of the evidence, and on those switched.

    Attributes:
        observed: the engine.
    """

    observed: Observed
    _known: dict[tuple[Side, Case], bool] = field(default_factory=dict)

    def evidence(self) -> list[Case]:
        """Return the cases of the evidence as the engine offers them."""
        observed = self.observed
        cases = short_cases(subject_named(observed.optimizer), observed.dtype)
        return list(observed.offered(map(observed.limits.offered, cases)))

    def splits(self, arithmetic: Arithmetic, chosen: Sequence[Property]) -> Iterator[Split]:
        """Yield the splits by one of these properties that the evidence supports, each shown by switching it."""
        cases = self.evidence()
        pairs = pairs_of_sides(subject_named(self.observed.optimizer), arithmetic)
        for case in cases:
            pairs = [(a, b) for a, b in pairs if self._explains(a, case) or self._explains(b, case)]
            if not pairs:
                return
        # A rule that explains every case leaves none to a second one.
        pairs = [(a, b) for a, b in pairs if not all(self._explains(a, case) for case in cases)]
        for by in chosen:
            for first, second in pairs:
                for holds in (True, False):
                    if all(self._explains(first, case) for case in cases if by.holds(case) == holds):
                        split = Split(by, first, second) if holds else Split(by, second, first)
                        if self.supported(split, cases):
                            yield split

    def edited_splits(self, chosen: Sequence[Property], known: Sequence[Explanation]) -> Iterator[Split]:
        """Yield the splits that the evidence supports, of a known rule and one that is an edit away from it."""
        cases = self.evidence()
        for by in chosen:
            for holds in (True, False):
                sides = self._standing(by, holds, cases, known)
                others = [case for case in cases if by.holds(case) != holds]
                for other in self._edited(by, not holds, others, dict.fromkeys([known[0], *sides])) if sides else ():
                    for side in sides:
                        split = Split(by, side, other) if holds else Split(by, other, side)
                        if self.supported(split, cases):
                            yield split

    def known_sides(
        self, chosen: Sequence[Property], known: Sequence[Explanation]
    ) -> Iterator[tuple[Property, bool, Explanation]]:
        """Yield the sides that a known rule explains, though it does not explain the other one; the largest first.

        That is the property, whether it holds on that side, and the rule, with the same evidence as for a split. There
        is none where a rule explains the evidence on both.
        """
        cases = self.evidence()
        if any(self._explains_all(side, cases) for side in known):
            return
        sides = [(by, holds, [x for x in cases if by.holds(x) == holds]) for by in chosen for holds in (True, False)]
        for by, holds, mine in sorted(sides, key=lambda side: -len(side[2])):
            there = [case for case in self._switched(by, mine) if by.holds(case) != holds]
            others = [*(case for case in cases if by.holds(case) != holds), *there]
            for side in self._standing(by, holds, cases, known)[:1]:  # the others are the same there
                if sum(not self._explains(side, case) for case in others) >= TELLING:
                    yield by, holds, side

    def _standing(
        self, by: Property, holds: bool, cases: list[Case], known: Sequence[Explanation]
    ) -> list[Explanation]:
        """Return the first known rules that explain every case of a side, and the others switched to that side.

        Only these can stand on that side of a split; without any, the other side need not be searched for.
        """
        mine = [case for case in cases if by.holds(case) == holds]
        others = [case for case in cases if by.holds(case) != holds]
        if not others or len(mine) < TELLING:
            return []
        there = (case for case in self._switched(by, others) if by.holds(case) == holds)
        switched = list(there) if any(self._explains_all(side, mine) for side in known) else []
        return list(islice((side for side in known if self._explains_all(side, [*mine, *switched])), SIDES))

    def _edited(
        self, by: Property, holds: bool, cases: list[Case], starts: Iterable[Explanation]
    ) -> Iterator[Explanation]:
        """Yield the formulas one edit away from known ones that explain every case of a side."""
        observed = self.observed
        telling = telling_cases(observed.optimizer, observed.dtype)
        on_side = (case if by.holds(case) == holds else by.switched(case) for case in telling)
        runs = runs_of(observed.target, observed.offered(filter(None, on_side)), observed.guard)
        if runs and all(by.holds(case) == holds for case, _ in runs):
            rules = [start.rule for start in starts]
            budget = Budget(beat=observed.guard.heartbeat, asks=observed.guard.searching)
            holding = partial(self._explains_all, cases=cases)
            formulas = edited_formulas(rules, runs, holding, budget, most_edits=1, held=observed.held)
            yield from (formula.explanation for formula in formulas)

    def _explains_all(self, side: Side, cases: list[Case]) -> bool:
        return all(self._explains(side, case) for case in cases)

    def supported(self, split: Split, cases: list[Case]) -> bool:
        """Whether each side explains its cases, drawn and switched, and enough of them refute the other side."""
        if not all(self._explains(split.side(split.by.holds(case)), case) for case in cases):
            return False
        refuted = {True: 0, False: 0}
        for case in (*cases, *self._switched(split.by, cases)):
            holds = split.by.holds(case)
            if not self._explains(split.side(holds), case):
                return False
            refuted[holds] += not self._explains(split.side(not holds), case)
        return min(refuted.values()) >= TELLING

    def _switched(self, by: Property, cases: list[Case]) -> Iterator[Case]:
        return self.observed.offered(filter(None, (_case_switched(by, case) for case in cases)))

    def _explains(self, side: Side, case: Case) -> bool:
        """Whether a side explains a case; a run that breaks the protocol is not explained."""
        if (side, case) not in self._known:
            try:
                self._known[side, case] = explains(self.observed.run(case), _expected(side, case), case.form)
            except TargetFault:
                self._known[side, case] = False
        return self._known[side, case]


@lru_cache(maxsize=4096)
def _case_switched(by: Property, case: Case) -> Case | None:
    return by.switched(case)
