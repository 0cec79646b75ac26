"""Collects the laws that a target breaks, and confirms them for a target that computes another formula.

Laws are first measured with the documented formula's bound. Another formula may round more, so that an honest
evaluation of it, whose vector body and tail round differently, seems to break a law.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, islice
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws import Law, laws_of
from optimetry.conformance.laws.law import Formula, Trial
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import named_classes
from optimetry.conformance.naming.mistakes import Mistaken
from optimetry.conformance.numerics.agreement import Expected, explains
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named, subject_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetFault


@dataclass(frozen=True)
class Broken:
    """A law that a target breaks.

    Attributes:
        law: which one.
        contradiction: what contradicts it.
        case: the first case that shows it.
        formula: the formula whose rounding bound allows less than that.
        engines: all engines of the target that are judged.
    """

    law: Law
    contradiction: str
    case: Case
    formula: Formula = expected
    engines: Sequence[Target] = ()

    def trial(self, target: Target, case: Case, guard: Guard) -> Trial:
        """Return a trial of the law on this case or another."""
        return Trial(target, case, guard, self.formula, engines=self.engines)


@dataclass
class BrokenLaws:
    """The laws of one subject that a target breaks.

    Attributes:
        broken: each of them, by its law's name.
        cases: the cases on which the laws were tried.
        engines: all engines of the target that are judged, for the laws that compare them.
    """

    broken: dict[str, Broken] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    engines: Sequence[Target] = ()

    def try_on(self, target: Target, case: Case, guard: Guard) -> None:
        """Try every law that is not known to be broken; slow ones on the first case alone.

        Most begin with the run of the case itself, which is made once; a law about repeated runs makes its own.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        known: dict[tuple[Any, ...], Array] = {}
        for law in laws_of(subject_of(case)):
            if law.name not in self.broken and not (law.slow and self.cases):
                contradiction = law.broken(Trial(target, case, guard, engines=self.engines, known=known))
                if contradiction is not None:
                    self.broken[law.name] = Broken(law, contradiction, case, engines=self.engines)
        self.cases.append(case)

    def try_remaining(self, target: Target, cases: Iterable[Case], rejected: Case, guard: Guard) -> None:
        """Try the laws on the rejected case and on the remaining ones, so that all dtypes name the same cause.

        In another dtype other cases come first; a target that breaks a law breaks it in the rejected case, too.
        """
        to_come = islice(cases, len(self.cases), None)
        with suppress(TargetFault):  # the rejection stands
            for case in to_come if rejected in self.cases else chain([rejected], to_come):
                if reason_unsupported(target, case) is None:
                    self.try_on(target, case, guard)

    @property
    def ordered(self) -> list[Broken]:
        """The broken laws, the most telling first."""
        some = next(iter(self.broken.values()), None)
        order = laws_of(subject_of(some.case)) if some else []
        return [self.broken[law.name] for law in order if law.name in self.broken]

    @property
    def universal(self) -> bool:
        """Whether one of the broken laws holds for every formula."""
        return any(each.law.universal for each in self.broken.values())

    @property
    def symptoms_alone(self) -> bool:
        """Whether every broken law is a symptom, which tells nothing of the cause."""
        return all(each.law.symptom for each in self.broken.values())


def confirmed(target: Target, laws: BrokenLaws, explanation: Explanation | Mistaken | None, guard: Guard) -> BrokenLaws:
    """Return the laws that a rejected target breaks beyond the rounding of what it computes.

    With an explanation, universal laws that apply to its formula are tried again with the rounding bound of that, and
    laws about NaN and infinities with the formula itself. All others are dropped: they are properties of the documented
    formula, or hold only if that is computed precisely. Without an explanation, all laws are tried again, with a bound
    that is as wide as an unknown formula may round. A law that used no bound in the second trial is kept: the target
    breaks it by returning something else each time.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    formula = partial(_of_unknown, target, guard) if explanation is None else explanation.expected
    rule_of = None if explanation is None else explanation.rule.of
    bounded: list[Case] = []

    def noted(case: Case) -> Expected:
        bounded.append(case)
        return formula(case)

    kept = {}
    for name, each in laws.broken.items():
        if explanation is None or _binds(each.law, explanation):
            bounded.clear()
            trial = replace(each.trial(target, each.case, guard), formula=noted, rule_of=rule_of)
            contradiction = each.law.broken(trial)
            if contradiction is not None:
                kept[name] = replace(each, contradiction=contradiction, formula=formula)
            elif not bounded and not each.law.any_arithmetic:  # such a law compares with the formula, and uses no bound
                kept[name] = each
    return BrokenLaws(kept, laws.cases, laws.engines)


def _binds(law: Law, explanation: Explanation | Mistaken) -> bool:
    """Whether a law holds for what an explanation computes, however; some hold for every elementwise formula alone."""
    return (law.any_arithmetic or law.universal) and law.applies(subject_named(explanation.rule.computed))


@lru_cache(maxsize=1024)
def widest(case: Case) -> Expected:
    """Return the documented formula's value, with the largest finite bound that it or a named dialect has there."""
    oracle = expected(case)
    bound = oracle.bound
    for rule_class in named_classes(case.optimizer):
        other = expected(case, rule_class.of(case.hyper)).bound
        bound = np.where(np.isfinite(other), np.maximum(bound, other), bound)
    return Expected(oracle.value, bound, oracle.start)


def _of_unknown(target: Target, guard: Guard, case: Case) -> Expected:
    """Return the documented formula's value with the bound of an unknown one, which may round like any that is named.

    It may also take a norm, and round every step as the sum of all elements of a tensor, relative to the largest step.
    """
    oracle, after = widest(case), trajectory(target, case, guard).astype(np.float64)
    moved = np.abs(np.diff(after, axis=0, prepend=[flat(case.parameters)]))
    sizes = [param.size for param in case.parameters]
    largest = [part.max(axis=1, initial=0.0) * part.shape[1] for part in np.split(moved, np.cumsum(sizes)[:-1], axis=1)]
    rounding = np.repeat(case.form.roundoff * np.cumsum(largest, axis=1).T, sizes, axis=1)
    bound = np.where(np.isfinite(rounding), np.fmax(oracle.bound, rounding), oracle.bound)
    return replace(oracle, bound=bound)


def contradicted_runs(target: Target, laws: BrokenLaws, guard: Guard) -> Iterator[tuple[Case, Array]]:
    """Yield, for each broken law, the first run that the documented formula does not explain.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    for each in laws.ordered:
        trial = each.trial(target, each.case, guard)
        each.law.broken(trial)
        for case, after in trial.ran:
            if case.optimizer == each.case.optimizer and not explains(after, expected(case), case.form):
                yield case, after
                break
