"""Declares an explanation of a target: a formula, and how it is computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from optimetry.conformance.cases.case import Case, met_before
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, altered
from optimetry.conformance.naming.known.increments import with_increments
from optimetry.conformance.naming.known.points import PointClass
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arithmetic import (
    FLOAT32_NORM,
    PLAIN,
    Arithmetic,
    decayed_in_float32,
    moved_in_parts,
)
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, Format, flushing, rounding_inputs
from optimetry.conformance.numerics.moved import Moved
from optimetry.conformance.oracle.expected import Asked, expected
from optimetry.conformance.subjects.subject import DECAY_STRENGTHS, LEARNING_RATE
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Array, Rule, State
from optimetry.reports.arithmetic import described
from optimetry.reports.parts import Part


def to_float32(number: float) -> float:
    """Round ``number`` to float32."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _rounded_more(result: Callable[[Any, Any], Any]) -> Alteration:
    """Return another rounding of a step: ``result`` maps the parameter before it and after it to that after it."""

    def update(rule: Rule, param: Array, *inputs: Any) -> tuple[Array, State]:
        after, new = rule.update(param, *inputs)
        return result(param, after), new

    return Alteration(update=update)


IN_PARTS = _rounded_more(moved_in_parts)
"""Steps that are subtracted in parts: another rounding, so that it is recorded as arithmetic."""

DECAYED = _rounded_more(decayed_in_float32)
"""A decay whose factor is rounded to float32, which is recorded as arithmetic, too."""


@cache
def _apart(own: Format) -> Alteration:
    """Return the alteration by which parameters stay in their own format, where all else is computed in a narrower."""

    def step(training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
        if "apart" not in training.memory:
            training.memory["apart"] = True
            training.parameters = [Moved.begun(x, own) if isinstance(x, Bounded) else x for x in training.parameters]
        return plain(grads, lr)

    return Alteration(step=step)


class Candidate(Protocol):
    """Something that may explain a target."""

    def expected(self, case: Case) -> Expected:
        """Return the expected value of a target that this explains."""
        ...

    def asks(self, case: Case) -> Iterator[Asked]:
        """Yield what the oracle is asked for by `expected`, so that it can be evaluated together with other cases."""
        ...

    @property
    def narrow(self) -> bool:
        """Whether it holds numbers in float32 beside wider arrays."""
        ...


@dataclass(frozen=True)
class Explanation:
    """A formula and its arithmetic, which a target may compute.

    Attributes:
        rule: which formula: the documented one, a named dialect, or another point of the family.
        arithmetic: how it is computed.
    """

    rule: PointClass
    arithmetic: Arithmetic = PLAIN

    @property
    def part(self) -> Part:
        """What a verdict records where this explains a part."""
        return Part(self.rule.name)

    @property
    def narrow(self) -> bool:
        """Whether it holds numbers in float32 beside wider arrays."""
        return bool(self.arithmetic.held_in_float32 or self.arithmetic.float32_in_some_uses)

    def expected(
        self, case: Case, instead: Mapping[str, Any] | None = None, alteration: Alteration | None = None
    ) -> Expected:
        """Return the expected value of a target that this explains.

        Args:
            case: what the target is fed.
            instead: hyperparameters that reach the formula in place of the case's, inside their domain or not.
            alteration: what the run does that the formula does not say.
        """
        return expected(*self.asked(case, instead, alteration))

    def asks(self, case: Case) -> Iterator[Asked]:
        """Yield what the oracle is asked for by `expected`."""
        yield self.asked(case)

    def asked(
        self, case: Case, instead: Mapping[str, Any] | None = None, alteration: Alteration | None = None
    ) -> Asked:
        """Return what the oracle is asked for; arguments as for `expected`."""
        arithmetic = self.arithmetic
        if self.rule.documented and not arithmetic and not instead and alteration is None:
            return Asked(case)
        computed = self.computed(case.hyper, instead)
        decays = arithmetic.float32_decay and any(case.hyper.get(name) for name in DECAY_STRENGTHS)
        in_parts, apart = arithmetic.step_in_parts, [_apart(case.form)] if arithmetic.parameters_apart else []
        for change in (*[IN_PARTS] * in_parts, *[DECAYED] * decays, *apart, alteration):
            computed = altered(computed, change)
        if LEARNING_RATE in arithmetic.float32:
            case = met_before(case.replace(learning_rates=tuple(map(to_float32, case.learning_rates))))
        return Asked(
            case, computed, self._form(case), self._called(arithmetic.float32_in_some_uses), arithmetic.combined
        )

    def _form(self, case: Case) -> Format | None:
        """Return the format whose rounding bounds the evaluation of a case, None for the one of its dtype."""
        narrower, flushes = self.arithmetic.computed_in, self.arithmetic.flushes_subnormals
        if not narrower and not flushes:
            return None
        form = rounding_inputs(FORMATS[narrower]) if narrower else case.form
        return flushing(form) if flushes else form

    def computed(self, hyper: Mapping[str, Any], instead: Mapping[str, Any] | None = None) -> Declared:
        """Return the formula with these documented hyperparameters, rounded where they are held in float32.

        Rounding may move one out of its domain (0.99999999 becomes 1), as it does in the frameworks that round; so may
        what is put ``instead`` of some.

        Raises:
            HyperparameterError: as for the documented formula, before rounding.
        """
        values = {called: x for name, x in (instead or {}).items() for called in self._called((name,))}
        computed = self.rule.of(hyper).with_values(values)
        if self.arithmetic.incremental_moments:
            computed = with_increments(computed)
        if self.arithmetic.float32_norm:
            computed = computed.with_values({FLOAT32_NORM: True})
        narrow = self._called(self.arithmetic.float32)
        return computed.lifted(lambda name, x: to_float32(x) if name in narrow else x) if narrow else computed

    def _called(self, numbers: tuple[str, ...]) -> tuple[str, ...]:
        """Return what the formula calls some of the document's numbers."""
        return self.rule.dialect.names_of(numbers) if self.rule.dialect else numbers

    def with_numbers(self, throughout: tuple[str, ...], in_some_uses: tuple[str, ...] = ()) -> Explanation:
        """Return the same with these numbers held in float32."""
        changed = dataclasses.replace(self.arithmetic, float32=throughout, float32_in_some_uses=in_some_uses)
        return Explanation(self.rule, changed)

    def holds_more_than(self, other: Explanation) -> bool:
        """Whether it is another explanation with more numbers held in float32, and differs in nothing else."""
        held = other.arithmetic.float32
        alike = self == other.with_numbers(self.arithmetic.float32, other.arithmetic.float32_in_some_uses)
        return alike and set(self.arithmetic.float32) > set(held)

    @property
    def formula(self) -> str | None:
        """The line of the formula that differs from the document, None for the documented one."""
        return None if self.rule.documented else self.rule.difference

    @property
    def reason(self) -> str:
        """One sentence on what differs from the document; empty where nothing does."""
        formula = "the documented rule" if self.rule.documented else f"{self.rule.difference}, as in {self.rule.origin}"
        ways = "; ".join(map(described, self.arithmetic.record()))
        return f"{formula}; {ways}" if ways else "" if self.rule.documented else formula
