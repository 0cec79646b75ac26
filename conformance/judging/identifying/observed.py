"""Records what one engine does in its probes and cases, and keeps the candidates that explain all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, tee
from typing import NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.offered import Limits
from optimetry.conformance.judging.identifying.short_numbers import with_short_numbers
from optimetry.conformance.judging.identifying.standing import C, Standing
from optimetry.conformance.naming.candidates import FLUSHED
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.known.probes import Probed
from optimetry.conformance.numerics.agreement import (
    Agreement,
    answered,
    compare,
    contradicted,
    explains,
    has_lost,
)
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.batched import evaluated_ahead
from optimetry.conformance.oracle.expected import Asked, expected
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, runs_ahead, taken_ahead, trajectory


@dataclass(frozen=True)
class Identity:
    """What a target computes, as far as it was identified.

    Attributes:
        explanation: which formula and how, None where nothing known explains every case, or several do.
        from_document: its agreement with the documented formula, over the cases that were tried.
        from_explanation: its agreement with what explains it.
        tried: the number of those cases.
        alike: other rules that are the same for all hyperparameters that the target offers.
        elsewhere: other rules that explain every case.
        several: where several explain every case and nothing tells them apart, their names.
    """

    explanation: Explanation | None
    from_document: Agreement = field(default_factory=Agreement)
    from_explanation: Agreement = field(default_factory=Agreement)
    tried: int = 0
    alike: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    several: tuple[str, ...] = ()


More = Callable[[Case], Iterator[Case]]
"""Makes further cases of a case."""


def no_more(case: Case) -> Iterator[Case]:
    """Make none."""
    return iter(())


FEW = 8
"""How many cases show what varies or is rounded, or have finite bounds: where gradients are subnormal, few have any."""

EXCLUDING = 2
"""The cases that are evaluated one by one: they exclude most of many candidates, which then need no others."""


class Tried(NamedTuple):
    """A run that candidates must explain.

    Attributes:
        case: what the engine was fed.
        after: its trajectory.
        drawn: whether the case is a drawn one, not made of one.
        kept: whether the run is kept for other candidates.
    """

    case: Case
    after: Array
    drawn: bool
    kept: bool


@dataclass(frozen=True)
class Observed:
    """What one engine does in its probes and cases, all of which a candidate must explain.

    Attributes:
        target: the engine.
        cases: every case, from the first.
        guard: what watches over its runs.
        probed: its results in the probes.
        refuting: the case that has refuted the last candidates, with its trajectory: it mostly refutes the next ones,
            too.
        runs: its trajectories in the cases tried so far.
        required: runs that candidates must explain as well: of a rare case that the documented formula does not
            explain, or one that a new run of the case does not repeat.
        silent: the candidates that say nothing of most elements. In a wider arithmetic they say no more.
    """

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    probed: Probed
    refuting: list[tuple[Case, Array]] = field(default_factory=list)
    required: list[tuple[Case, Array]] = field(default_factory=list)
    runs: dict[Case, Array] = field(default_factory=dict)
    silent: set[Candidate] = field(default_factory=set)

    @classmethod
    def of(
        cls, target: Target, optimizer: str, dtype: str, cases: Callable[[], Iterator[Case]], guard: Guard
    ) -> Observed:
        """Run the probes of a subject on an engine.

        Each case is made once, however often all are tried: runs, and what explains them, are kept by case.

        Raises:
            TargetFault: the engine breaks the protocol.
        """
        (first,) = tee(cases(), 1)
        return cls(target, partial(copy, first), guard, Probed.of(target, optimizer, dtype, guard))

    def anew(self) -> Observed:
        """Run the probes once more, and forget all other runs: of an engine that gives something else each time.

        Raises:
            TargetFault: the engine breaks the protocol.
        """
        return Observed.of(self.target, self.optimizer, self.dtype, self.cases, self.guard)

    @property
    def optimizer(self) -> str:
        """The subject's name."""
        return self.probed.optimizer

    @property
    def dtype(self) -> str:
        """The dtype's name."""
        return self.probed.dtype

    def run(self, case: Case) -> Array:
        """Return the engine's trajectory in a case; it is fed once for all candidates."""
        if case not in self.runs:
            self.runs[case] = self.run_anew(case)
        return self.runs[case]

    def run_anew(self, case: Case) -> Array:
        """Return its trajectory in a new run of a case, which is not kept."""
        return trajectory(self.target, case, self.guard)

    def offers(self, case: Case) -> bool:
        """Whether the engine offers a case."""
        return case in self.runs or reason_unsupported(self.target, case) is None

    def offered(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield those of the cases that the engine offers."""
        return filter(self.offers, cases)

    def first_offered(self) -> Iterator[Case]:
        """Yield the first few cases that the engine offers."""
        return islice(self.offered(self.cases()), FEW)

    @property
    def limits(self) -> Limits:
        """What the engine does not offer."""
        return self.probed.limits

    @property
    def restricted(self) -> bool:
        """Whether the engine declines hyperparameters that the document has."""
        return self.limits.bounds or not all(map(self.offers, self.cases()))

    @property
    def pinned(self) -> frozenset[str]:
        """The hyperparameters that can have one value alone."""
        return frozenset(name for name, _ in self.limits.pinned)

    @property
    def held(self) -> tuple[str, ...]:
        """The flags among them, and the numbers that can be 0 alone: what a search leaves out of formulas."""
        return tuple(name for name, value in self.limits.pinned if isinstance(value, bool) or value == 0)

    def not_refuted(self, candidates: Sequence[C]) -> list[C]:
        """Return the candidates that also explain the case that refuted the last ones, if there is one."""
        for case, after in self.refuting:
            candidates = [candidate for candidate in candidates if explains(after, candidate.expected(case), case.form)]
        return list(candidates)

    def surviving(self, candidates: Sequence[Explanation]) -> tuple[list[Identity], Identity]:
        """Return the explanations that hold in every probe and case, and how the document agrees in those tried."""
        for case, after in self.required:
            there = contradicted(after, expected(case))
            candidates = [each for each in candidates if explains(after, each.expected(case), case.form)]
            if has_lost(after, there):
                candidates = [each for each in candidates if answered(after, each.expected(case), there)]
        alive, unexplained = self.holding_on_all(candidates)
        document, tried = unexplained.from_document, unexplained.tried
        return [Identity(explanation, document, agreement, tried) for explanation, agreement in alive], unexplained

    def holding_on_all(
        self, candidates: Sequence[C], more: More = no_more, judged: float = 0.0
    ) -> tuple[list[tuple[C, Agreement]], Identity]:
        """Do the same for any kind of candidate, each with its agreement, and also on the cases that ``more`` makes.

        Where a candidate holds numbers in float32, cases with short numbers are added: the rounding of the others hides
        small differences of another kind, such as a number added to a divisor. A candidate without a finite bound for
        most elements that first contradict the document explains nothing, nor does one without it for most numbers that
        the document determines, nor one that has it for a smaller part of all elements than ``judged``. The documented
        formula where subnormals are flushed is excepted: a quotient of what may be 0 has no bound, and the hardware
        decides about it, not the target. Where that shall be the reason for NaN or an infinity, it must determine one
        element.
        """
        alive = [Standing(candidate) for candidate in candidates if self.probed.explained_by(candidate.expected)]
        narrow = any(each.candidate.narrow for each in alive)
        most = (1 - judged) * self._elements(more, narrow) if alive and judged > 0 else np.inf
        document, tried, differing, determined, lost = Agreement(), 0, 0, 0, False

        def asked(drawn: Case) -> Iterator[Asked]:
            for case in self._kept_of(drawn, narrow):
                if taken_ahead(self.target, case):
                    yield Asked(case)
                    yield from chain.from_iterable(each.candidate.asks(case) for each in alive)

        cases = evaluated_ahead(self.cases(), asked, EXCLUDING) if alive else ()
        for case, after, drawn, kept in self._runs_of(cases, more, narrow):
            documented = expected(case)
            if drawn:
                document, tried = document + compare(after, documented, case.form), tried + 1
            there = contradicted(after, documented)
            numbers = documented.known & np.isfinite(after)
            differing += int(np.count_nonzero(there))
            determined += int(np.count_nonzero(numbers))
            lost = lost or has_lost(after, there)
            alive = [still for each in alive if (still := each.on(case, after, there, numbers))]
            if not alive and kept:
                self.refuting[:] = [(case, after)]
            self.silent.update(each.candidate for each in alive if each.agreement.vacuous > most)
            alive = [each for each in alive if each.candidate not in self.silent]
            if not alive:
                break
        flushing = Explanation(documented_class(self.optimizer), FLUSHED)
        least = int(lost)
        telling = [
            (x.candidate, x.agreement)
            for x in alive
            if (x.determined >= least if x.candidate == flushing else x.tells(differing, determined))
        ]
        return telling, Identity(None, document, Agreement(), tried)

    def _runs_of(self, drawn: Iterable[Case], more: More, narrow: bool) -> Iterator[Tried]:
        """Yield the runs of drawn cases and of those made of them; programs play some of the drawn ones ahead."""
        for each in runs_ahead(drawn, lambda: [self.target], self.runs):
            kept = self._kept_of(each, narrow)
            for case in self._tried_of(each, more, narrow):
                after = self.run(case) if case in kept else self.run_anew(case)
                yield Tried(case, after, case is each, case in kept)

    def _tried_of(self, drawn: Case, more: More, narrow: bool) -> Iterator[Case]:
        """Yield the cases made of a drawn one that the engine offers, the drawn one last."""
        return self.offered(chain(more(drawn), self._kept_of(drawn, narrow)))

    def _kept_of(self, drawn: Case, narrow: bool) -> list[Case]:
        """Return those whose runs are kept: the drawn case, and before it that with short numbers, where ``narrow``."""
        short = with_short_numbers(drawn, self.limits) if narrow else drawn
        return [drawn] if short is drawn else [short, drawn]

    def _elements(self, more: More, narrow: bool) -> int:
        """Return the number of elements in all cases that candidates are tried on."""
        return sum(case.elements for drawn in self.cases() for case in self._tried_of(drawn, more, narrow))

    def holding(self, explanation: Explanation) -> Identity | None:
        """Return what is known of an explanation that holds in every probe and case; None if it does not hold."""
        identities, _ = self.surviving(self.not_refuted([explanation]))
        return identities[0] if identities else None
