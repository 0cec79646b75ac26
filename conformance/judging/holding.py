"""Compares candidates with the probes and cases of one target, and keeps those that explain all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from optimetry.conformance.cases.case import Case, met_before
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.numerics.agreement import Agreement, answered, compare, contradicted, explained, explains
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.batched import evaluated_ahead
from optimetry.conformance.oracle.expected import Asked, decays_of, expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, runs_ahead, taken_ahead, trajectory


@dataclass(frozen=True)
class Identity:
    """What a target computes, as far as it was identified.

    Attributes:
        explanation: which formula and how, None where nothing known explains every case, or several do.
        from_document: how far it is from the documented formula, over the cases that were tried for it.
        from_explanation: how far it is from what explains it.
        tried: the number of those cases.
        alike: other rules that are the same for all hyperparameters that the target offers.
        elsewhere: rules of other books that explain every case.
        several: where several explain every case and nothing tells them apart, their names.
        probed: the results in the probes.
    """

    explanation: Explanation | None
    from_document: Agreement = field(default_factory=Agreement)
    from_explanation: Agreement = field(default_factory=Agreement)
    tried: int = 0
    alike: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    probed: Probed | None = None


C = TypeVar("C", bound=Candidate)

More = Callable[[Case], Iterator[Case]]
"""Makes further cases of a case."""


def no_more(case: Case) -> Iterator[Case]:
    """Make none."""
    return iter(())


TOLD = 0.5
"""The least part of the elements of which an explanation must say what they are where they first leave the document."""

EXCLUDING = 2
"""The cases that are evaluated one by one: they exclude most of many candidates, which then need no others."""

BITS = 8
"""How many bits the numbers of a case have that float32 holds, with their third powers, and with 1 less a decay."""


def with_short_numbers(case: Case) -> Case:
    """Round the numbers of a case to few bits, so that float32 holds them and their short products exactly."""
    subject = subject_of(case)
    domains = {one.name: one.domain for one in subject.hyperparameters() if one.kind is float}
    decays = decays_of(subject)

    def short(name: str, number: Any) -> Any:
        if name in decays:  # a multiple of 2^-8, as 1 less it is
            return min(max(round(number * 2**BITS), 1), 2**BITS - 1) / 2**BITS if number else number
        domain, near = domains.get(name), _short(number) if isinstance(number, float) else number
        return number if domain is not None and near not in domain else near

    hyper = {name: short(name, value) for name, value in case.hyper.items()}
    return case.replace(hyper=hyper, learning_rates=tuple(map(_short, case.learning_rates)))


def _short(number: float) -> float:
    fraction, exponent = np.frexp(number)
    with np.errstate(over="ignore"):
        near = float(np.ldexp(np.rint(fraction * 2**BITS), exponent - BITS))
    return near if np.isfinite(near) else number


@dataclass(frozen=True)
class Holding:
    """The probes and cases that a candidate must explain.

    Attributes:
        target: one engine.
        cases: every case, from the first.
        guard: what watches over its runs.
        probed: its results in the probes.
        refuting: the case that has refuted the last candidates, with the trajectory of the target: it mostly refutes
            the next ones, too.
        runs: the trajectories of the target in the cases tried so far.
        silent: the candidates that say nothing of most elements. In a wider arithmetic they say no more.
    """

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    probed: Probed
    refuting: list[tuple[Case, Array]] = field(default_factory=list)
    runs: dict[Case, Array] = field(default_factory=dict)
    silent: set[Candidate] = field(default_factory=set)

    def run(self, case: Case) -> Array:
        """Return the target's trajectory in a case; it is fed once for all candidates."""
        if case not in self.runs:
            self.runs[case] = trajectory(self.target, case, self.guard)
        return self.runs[case]

    @property
    def limits(self) -> Limits:
        """What the target does not offer."""
        return limits_of(self.target, self.probed.optimizer)

    @property
    def restricted(self) -> bool:
        """Whether the target declines hyperparameters that the document has."""
        return self.limits.bounds or any(reason_unsupported(self.target, case) is not None for case in self.cases())

    @property
    def pinned(self) -> frozenset[str]:
        """The hyperparameters that can have one value alone."""
        return frozenset(name for name, _ in self.limits.pinned)

    def offered(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield those of the cases that the target offers."""
        return (case for case in cases if reason_unsupported(self.target, case) is None)

    def standing(self, candidates: Sequence[C]) -> list[C]:
        """Return the candidates that also explain the case that refuted the last ones, if there is one."""
        for case, after in self.refuting:
            candidates = [one for one in candidates if explains(after, one.expected(case), case.form)]
        return list(candidates)

    def surviving(self, candidates: Sequence[Explanation]) -> tuple[list[Identity], Identity]:
        """Return the explanations that hold in every probe and case, and how far the document is in the cases tried."""
        alive, unexplained = self.holding_on_all(candidates)
        document, tried = unexplained.from_document, unexplained.tried
        return [Identity(one, document, agreement, tried) for one, agreement in alive], unexplained

    def holding_on_all(
        self, candidates: Sequence[C], more: More = no_more, judged: float = 0.0
    ) -> tuple[list[tuple[C, Agreement]], Identity]:
        """Do the same for candidates of any kind, each with its agreement; and on the cases ``more`` makes of each.

        Where a candidate holds numbers in float32, cases with short numbers are added: the rounding of the others hides
        small differences of another kind, such as a number added to a divisor. A candidate without a finite bound for
        most elements that first contradict the document explains nothing, nor does one that has it for a smaller part
        of all elements than ``judged``.
        """
        alive = [(one, Agreement(), 0) for one in candidates if self.probed.explained_by(one.expected)]
        narrow = any(one.narrow for one, *_ in alive)
        document, tried, differing = Agreement(), 0, 0

        def tried_with(drawn: Case) -> Iterator[Case]:
            short = met_before(self.limits.offered(with_short_numbers(drawn))) if narrow else drawn
            yield from [drawn] if short is drawn else [short, drawn]

        def asked(drawn: Case) -> Iterator[Asked]:
            for case in tried_with(drawn):
                if taken_ahead(self.target, case):
                    yield Asked(case)
                    yield from (one.asked(case) for one, *_ in alive if isinstance(one, Explanation))

        def compared(drawn: Case) -> Iterator[Case]:
            return self.offered(chain(more(drawn), tried_with(drawn)))

        asks = bool(alive) and judged > 0
        elements = sum(case.elements for drawn in self.cases() for case in compared(drawn)) if asks else 0
        most = (1 - judged) * elements if asks else np.inf
        cases = evaluated_ahead(self.cases(), asked, EXCLUDING) if alive else ()
        for drawn in runs_ahead(cases, lambda: [self.target], self.runs):
            for case in compared(drawn):
                after = self.run(case) if case is drawn else trajectory(self.target, case, self.guard)
                documented = expected(case)
                if case is drawn:
                    document, tried = document + compare(after, documented, case.form), tried + 1
                there = contradicted(after, documented)
                differing += int(np.count_nonzero(there))
                evaluated = ((*each, each[0].expected(case)) for each in alive)
                alive = [
                    (one, before + agreement, told + answered(after, oracle, there))
                    for one, before, told, oracle in evaluated
                    if (agreement := explained(after, oracle, case.form)) is not None
                ]
                if not alive and case is drawn:
                    self.refuting[:] = [(case, after)]
                self.silent.update(one for one, agreement, _ in alive if agreement.vacuous > most)
                alive = [each for each in alive if each[0] not in self.silent]
                if not alive:
                    return [], Identity(None, document, Agreement(), tried)
        telling = [(one, agreement) for one, agreement, told in alive if told >= TOLD * differing]
        return telling, Identity(None, document, Agreement(), tried)

    def holding(self, explanation: Explanation) -> Identity | None:
        """Return what is known of an explanation that holds in every probe and case; None if it does not hold."""
        identities, _ = self.surviving(self.standing([explanation]))
        return identities[0] if identities else None
