"""Forms the moving averages of a formula as increments: ``m + (1-b)*(x - m)`` in the place of ``b*m + (1-b)*x``.

Both are one formula in exact arithmetic. The program of a rule is rewritten if it can be traced; a wrapper may declare
how it rounds an average.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from optimetry.conformance.naming.formulas.evaluated import INCREMENT, evaluating, shared
from optimetry.conformance.naming.formulas.programs import Expression, Program, program_of, slots_of
from optimetry.conformance.naming.known.counting import plain_case
from optimetry.conformance.naming.known.points import formula_of
from optimetry.conformance.numerics.arithmetic import INCREMENTAL
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reference.declaration import Declared


@cache
def knows_increments(optimizer: str) -> bool:
    """Whether a subject has moving averages that an implementation may form as increments."""
    if hasattr(formula_of(optimizer), INCREMENTAL):
        return True
    subject = subject_named(optimizer)
    if not isinstance(subject, RuleSubject):
        return False
    documented = subject.of(plain_case(optimizer, "float64").hyper)
    return type(with_increments(documented)) is not type(documented)


def with_increments(computed: Declared) -> Declared:
    """Return a formula with every average formed as an increment; the formula itself where it has none."""
    if hasattr(computed, INCREMENTAL):
        return computed.with_values({INCREMENTAL: True})
    kind = _formed(_Traceable(computed))
    if kind is None:
        return computed
    other: Declared = object.__new__(kind)
    vars(other).update(vars(computed))
    return other


class _Traceable:
    """A formula; equal to those that trace alike: of the same class, with the same choices and whole numbers."""

    def __init__(self, computed: Declared) -> None:
        traced = {x.name for x in computed.hyperparameters() if x.kind in (float, bool)}
        chosen = [(x.name, getattr(computed, x.name)) for x in dataclasses.fields(computed) if x.name not in traced]
        self.computed, self._alike = computed, (type(computed), *chosen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Traceable) and self._alike == other._alike

    def __hash__(self) -> int:
        return hash(self._alike)


@lru_cache(maxsize=512)
def _formed(traceable: _Traceable) -> type[Declared] | None:
    """Return the class of a formula whose averages are increments; None where there is none, or it cannot be traced."""
    kind = type(traceable.computed)
    program = vars(kind).get("program") or program_of(traceable.computed)
    changed = program and in_increments(program)
    return None if not changed or changed == program else evaluating(kind, changed)


def in_increments(program: Program) -> Program:
    """Return a program with every average of a slot formed as an increment."""
    slots, known = frozenset(slots_of(program)), {}

    def walk(part: Expression) -> Expression:
        if not isinstance(part, tuple):
            return part
        if part not in known:
            known[part] = _increment((part[0], *map(walk, part[1:])), slots)
        return known[part]

    return shared({name: walk(expression) for name, expression in program.items()})


def _increment(part: tuple[Any, ...], slots: Collection[str]) -> Expression:
    """Return an average as an increment, and any other expression as it is.

    An average of squares cannot be negative, since rounding is monotone: hence the maximum.
    """
    match part:
        case ("add", ("multiply", decay, slot), ("multiply", gain, new)) if slot in slots and _are_one(decay, gain):
            moved = (INCREMENT, slot, gain, new)
            return ("maximum", moved, 0.0) if _is_of_squares(new) else moved
    return part


def _are_one(decay: Expression, gain: Expression) -> bool:
    """Whether two factors add up to 1."""
    return gain == ("subtract", 1, decay) or decay == ("subtract", 1, gain)


def _is_of_squares(part: Expression) -> bool:
    match part:
        case ("square", _) | ("sum", ("square", _)):
            return True
    return False
