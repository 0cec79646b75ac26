"""Declares mistakes: a known rule that is given other inputs than the target was, or whose run does more than it says.

A mistake is no edit of a formula. It is a function of what the target is given, or an alteration of the run, so the
rounding bound of the rule decides, as for every other explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, reduce
from typing import Any

from optimetry.conformance.cases.case import Case, met_before
from optimetry.conformance.laws.law import Law, LawCheck
from optimetry.conformance.laws.universal import parameters_are_independent, splitting
from optimetry.conformance.naming.alterations import Alteration, joined
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.naming.known.probes import probes_of
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import Asked
from optimetry.reports.parts import ALSO, Part

Hyper = Mapping[str, Any]

Run = Callable[[Case], Array]
"""Runs a target on a case, and returns its trajectory."""

ADVICE = "check how arguments are passed on"


@dataclass(frozen=True, eq=False)
class Mistake:
    """What reaches a rule in place of what the target was given, or what its run does beside the rule.

    Attributes:
        given: what reaches the rule, as it is recorded; see `Part`. Empty for a mistake of the run.
        hyper: returns the hyperparameters that reach the rule in place of the case's, from all of the case's.
        fed: returns the case that reaches the rule, hyperparameters apart.
        note: a few words on where a value comes from, if they are known.
        breaks: the checks of the universal laws that the mistake breaks; what it keeps is no part of a saved state.
        run: what the run does, as it is recorded; empty for a mistake of an adapter.
        alteration: what makes the run do so.
        returned: maps a case and the rule's expected value in it to the expected value of what is returned.
        needs: the checks of laws of which one must be broken: otherwise the document allows it, and it is no mistake.
        shown_by: makes further cases of a case, on which alone it may show; None where it shows on any.
        seen: whether what a target does with some cases has the mark of the mistake, which its bound alone, if it is a
            wide one, does not ask for.
        saves: how many slots in its format a target must save, as its bound would explain one that has all digits, too.
        strength: the hyperparameter that it acts by; a target that holds it at 0 has no such mistake.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    hyper: Callable[[Hyper], Hyper] = lambda hyper: {}
    fed: Callable[[Case], Case] = lambda case: case
    note: str = ""
    breaks: tuple[LawCheck, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    alteration: Alteration | None = None
    returned: Callable[[Case, Expected], Expected] = lambda case, value: value
    needs: tuple[LawCheck, ...] = ()
    shown_by: Callable[[Case], Iterator[Case]] | None = None
    seen: Callable[[Run, Iterable[Case]], bool] = lambda run, cases: True
    saves: int = 0
    strength: str = ""

    @property
    def loses_digits(self) -> bool:
        """Whether it rounds something to a format, and gives the values of its rule."""
        return "format" in self.run

    @property
    def joins(self) -> bool:
        """Whether parameters, or parts of one, depend on each other by it."""
        return not {parameters_are_independent, splitting}.isdisjoint(self.breaks)

    def may_break(self, law: Law | None) -> bool:
        """Whether a target with this mistake alone may break a law; None stands for none."""
        return law is None or law.check in self.breaks

    def is_shown(self, laws: Sequence[Law]) -> bool:
        """Whether the laws that a target breaks show that it is a mistake at all."""
        return not self.needs or any(law.check in self.needs for law in laws)

    def is_same(self, other: Mistake) -> bool:
        """Whether two mistakes are recorded alike: variants of one."""
        return (self.given, self.run) == (other.given, other.run)

    @property
    def changes(self) -> frozenset[str]:
        """What of a run it changes; all else it leaves as it is."""
        own = {name for name in ("hyper", "fed", "returned") if getattr(self, name) is not getattr(Mistake, name)}
        return frozenset(own) | (self.alteration.changes if self.alteration else frozenset())

    def commutes(self, other: Mistake) -> bool:
        """Whether two mistakes of a run give the same in either order, as they change nothing in common."""
        return self.changes.isdisjoint(other.changes)


def together(mistakes: Sequence[Mistake]) -> Mistake:
    """Return mistakes of one run as one, each of which alters what those before it make of a rule; none by none."""
    return reduce(_beside, mistakes) if mistakes else Mistake()


def _beside(first: Mistake, second: Mistake) -> Mistake:
    """Return two mistakes of a run as one; further cases show one of them at most."""
    return Mistake(
        run={**first.run, ALSO: [*first.run.get(ALSO, ()), second.run]},
        hyper=lambda hyper: {**first.hyper(hyper), **second.hyper(hyper)},
        fed=lambda case: second.fed(first.fed(case)),
        alteration=joined(first.alteration, second.alteration),
        returned=lambda case, value: second.returned(case, first.returned(case, value)),
        breaks=(*first.breaks, *second.breaks),
        shown_by=first.shown_by or second.shown_by,
    )


Rates = tuple[float, ...]


def with_rates(change: Callable[[Rates], Rates]) -> Callable[[Case], Case]:
    """Feed other learning rates; a case in which they are the same stays itself, which is known."""

    def fed(case: Case) -> Case:
        rates = change(case.learning_rates)
        return case if rates == case.learning_rates else case.replace(learning_rates=rates)

    return fed


@dataclass(frozen=True)
class Mistaken:
    """A rule with a mistake, which a target may compute."""

    explanation: Explanation
    mistake: Mistake

    def expected(self, case: Case) -> Expected:
        """Return the expected value of a target that this explains; those in probes are kept, of others the latest."""
        return (_in_probe if case in probes_of(case.optimizer, case.dtype) else _kept)(self, case)

    def asks(self, case: Case) -> Iterator[Asked]:
        """Yield what the oracle is asked for by `expected`."""
        yield self.explanation.asked(*self._given(case))

    def _given(self, case: Case) -> tuple[Case, Hyper, Alteration | None]:
        """Return what reaches the rule in a case."""
        mistake = self.mistake
        fed = mistake.fed(case)
        return fed if fed is case else met_before(fed), mistake.hyper(case.hyper), mistake.alteration

    def computed_in(self, arithmetic: Arithmetic) -> Mistaken:
        """Return the same in another arithmetic."""
        return Mistaken(Explanation(self.rule, arithmetic), self.mistake)

    @property
    def narrow(self) -> bool:
        """Whether it holds numbers in float32 beside wider arrays."""
        return self.explanation.narrow

    @property
    def rule(self) -> PointClass:
        """The rule that is computed."""
        return self.explanation.rule

    @property
    def imprecise(self) -> bool:
        """Whether it is the documented rule with less precision, such as a slot in a narrower format."""
        return self.rule.documented and self.mistake.loses_digits

    @property
    def part(self) -> Part:
        """What a verdict records where this explains a part."""
        return Part(self.rule.name, None, self.mistake.given or None, self.mistake.run or None)

    @property
    def parts(self) -> list[Part]:
        """What a verdict records where it explains every case."""
        return [self.part]

    @property
    def reason(self) -> str:
        """One sentence on what the target computes, with advice where an adapter may be the cause."""
        note = f" ({self.mistake.note})" if self.mistake.note else ""
        advice = f": {ADVICE}" if self.mistake.given else ""
        return f"computes {self.part.words}{note}{advice}"


def _evaluated(mistaken: Mistaken, case: Case) -> Expected:
    return mistaken.mistake.returned(case, mistaken.explanation.expected(*mistaken._given(case)))


_in_probe = cache(_evaluated)

_kept = lru_cache(maxsize=2048)(_evaluated)
"""The next engine, or the next target of the same rule, is held against the same mistakes on the same cases."""
