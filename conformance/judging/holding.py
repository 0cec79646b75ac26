"""Holds candidates against the probes and cases of one target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.explanation import Candidate, Explanation
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.numerics.agreement import Agreement, compare, explained
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory


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


@dataclass(frozen=True)
class Holding:
    """The probes and cases that a candidate must explain.

    Attributes:
        target: one engine.
        cases: every case, from the first.
        guard: what watches over its runs.
        probed: its results in the probes.
    """

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    probed: Probed

    @property
    def restricted(self) -> bool:
        """Whether the target declines hyperparameters that the document has."""
        bounds = limits_of(self.target, self.probed.optimizer).bounds
        return bounds or any(reason_unsupported(self.target, case) is not None for case in self.cases())

    @property
    def pinned(self) -> frozenset[str]:
        """The hyperparameters that can have one value alone."""
        return frozenset(name for name, _ in limits_of(self.target, self.probed.optimizer).pinned)

    def offered(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield those of the cases that the target offers."""
        return (case for case in cases if reason_unsupported(self.target, case) is None)

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

    def holding(self, explanation: Explanation) -> Identity | None:
        """What is known of an explanation that holds in every probe and on every case; None if it does not."""
        identities, _ = self.surviving([explanation])
        return identities[0] if identities else None
