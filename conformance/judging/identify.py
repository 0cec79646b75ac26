"""Identifies what a rejected target computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.candidates import tiers
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.precision import numbers_in_float32
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.numerics.agreement import Agreement, compare, explained
from optimetry.conformance.oracle.expected import expected
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
        probed: the results in the probes.
    """

    explanation: Explanation | None
    from_document: Agreement = field(default_factory=Agreement)
    from_explanation: Agreement = field(default_factory=Agreement)
    tried: int = 0
    probed: Probed | None = None


def identify(target: Target, optimizer: str, dtype: str, cases: Callable[[], Iterator[Case]], guard: Guard) -> Identity:
    """Try the tiers of candidates; the first in which any holds decides, and it must be one alone.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    search = _Search(target, cases, guard, Probed.of(target, optimizer, dtype, guard))
    longest = Identity(None, probed=search.probed)
    for tier in tiers(optimizer, dtype, search.probed):
        alive, unexplained = search.surviving(tier)
        if unexplained.tried > longest.tried:
            longest = dataclasses.replace(unexplained, probed=search.probed)
        if len(alive) > 1:
            return longest
        if alive:
            return search.narrowed(alive[0])
    return longest


@dataclass(frozen=True)
class _Search:
    """Holds candidates against the probes and cases of one target."""

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    probed: Probed

    def surviving(self, candidates: Sequence[Explanation]) -> tuple[list[Identity], Identity]:
        """The candidates that hold in every probe and on every case, and how far the document is in those tried."""
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
        identities = [Identity(one, document, agreement, tried) for one, agreement in alive]
        return identities, Identity(None, document, Agreement(), tried)

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
