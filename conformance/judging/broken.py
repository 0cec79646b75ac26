"""Collects the laws that a target breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws import Law, laws_of
from optimetry.conformance.laws.law import Formula
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard


@dataclass(frozen=True)
class Broken:
    """A law that a target breaks.

    Attributes:
        law: which one.
        found: what contradicts it.
        case: the first case that shows it.
        formula: whose rounding bound allows less than that.
        engines: all engines of the target that are judged.
    """

    law: Law
    found: str
    case: Case
    formula: Formula = expected
    engines: Sequence[Target] = ()


@dataclass
class BrokenLaws:
    """The laws of one subject that a target breaks.

    Attributes:
        broken: each of them, by its law's name.
        cases: on how many cases the laws were tried.
        engines: all engines of the target that are judged, for the laws that compare them.
    """

    broken: dict[str, Broken] = field(default_factory=dict)
    cases: int = 0
    engines: Sequence[Target] = ()

    def try_on(self, target: Target, case: Case, guard: Guard) -> None:
        """Try every law that is not known to be broken; slow ones on the first case alone.

        Raises:
            TargetFault: the target breaks the protocol.
        """
        for law in laws_of(subject_of(case)):
            if law.name not in self.broken and not (law.slow and self.cases):
                found = law.broken(target, case, guard, engines=self.engines)
                if found is not None:
                    self.broken[law.name] = Broken(law, found, case, engines=self.engines)
        self.cases += 1

    def only(self, law: Law | None) -> BrokenLaws:
        """Return one of these laws alone, or none."""
        return BrokenLaws(
            {name: each for name, each in self.broken.items() if each.law is law}, self.cases, self.engines
        )

    @property
    def ordered(self) -> list[Broken]:
        """The broken laws, the most telling first."""
        some = next(iter(self.broken.values()), None)
        order = laws_of(subject_of(some.case)) if some else []
        return [self.broken[law.name] for law in order if law.name in self.broken]

    @property
    def universal(self) -> bool:
        """Whether a law is broken that holds for every formula."""
        return any(each.law.universal for each in self.broken.values())

    @property
    def symptoms_alone(self) -> bool:
        """Whether no broken law tells anything of the cause."""
        return all(each.law.symptom for each in self.broken.values())
