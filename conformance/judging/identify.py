"""Identifies what a rejected target computes: the one explanation that holds in every probe and every case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.candidates import tiers
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.precision import numbers_in_float32
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.numerics.agreement import Agreement, compare, explains
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
    """

    explanation: Explanation | None
    from_document: Agreement = field(default_factory=Agreement)
    from_explanation: Agreement = field(default_factory=Agreement)
    tried: int = 0


def identify(target: Target, optimizer: str, dtype: str, cases: Callable[[], Iterator[Case]], guard: Guard) -> Identity:
    """Try the tiers of candidates; the first in which any holds decides, and it must be one alone.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    search = _Search(target, cases, guard, Probed.of(target, optimizer, dtype, guard))
    longest = Identity(None)
    for tier in tiers(optimizer, dtype, search.probed):
        alive, found = search.surviving(tier)
        longest = max(longest, found, key=lambda identity: identity.tried)
        if len(alive) > 1:
            return longest
        if alive:
            return search.identity(search.narrowed(alive[0]))
    return longest


@dataclass(frozen=True)
class _Search:
    """Holds candidates against the probes and cases of one target."""

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    probed: Probed

    def surviving(self, candidates: list[Explanation]) -> tuple[list[Explanation], Identity]:
        """Return the candidates that hold in every probe and case, and the distance from the document in these."""
        alive = [one for one in candidates if self.probed.explained_by(one.expected)]
        agreement, tried = Agreement(), 0
        for case in self.cases() if alive else ():
            if not alive:
                break
            if reason_unsupported(self.target, case) is None:
                after = trajectory(self.target, case, self.guard)
                alive = [one for one in alive if explains(after, one.expected(case), case.form)]
                agreement, tried = agreement + compare(after, expected(case), case.form), tried + 1
        return alive, Identity(None, agreement, Agreement(), tried)

    def holds(self, explanation: Explanation) -> bool:
        """Whether an explanation holds in every probe and on every case."""
        return bool(self.surviving([explanation])[0])

    def identity(self, explanation: Explanation) -> Identity:
        """Measure how far the target is from an explanation that holds, and from the document."""
        documented, explained, tried = Agreement(), Agreement(), 0
        for case in self.cases():
            if reason_unsupported(self.target, case) is None:
                after = trajectory(self.target, case, self.guard)
                documented += compare(after, expected(case), case.form)
                explained += compare(after, explanation.expected(case), case.form)
                tried += 1
        return Identity(explanation, documented, explained, tried)

    def narrowed(self, explanation: Explanation) -> Explanation:
        """Return the explanation with as few numbers held in float32 as the probes, or else the cases, show."""
        names = explanation.arithmetic.float32_in_some_uses
        if not names:
            return explanation
        shown = numbers_in_float32(self.target, explanation.rule, self.guard)
        probed = explanation.with_numbers(shown.float32)
        if shown.float32 and not shown.float32_in_some_uses and self.holds(probed):
            return probed
        for name in names:
            fewer = tuple(other for other in names if other != name)
            if fewer and self.holds(explanation.with_numbers((), fewer)):
                names = fewer
        throughout: tuple[str, ...] = ()
        for name in names:
            others = tuple(other for other in names if other not in (*throughout, name))
            if self.holds(explanation.with_numbers((*throughout, name), others)):
                throughout = (*throughout, name)
        return explanation.with_numbers(throughout, tuple(name for name in names if name not in throughout))
