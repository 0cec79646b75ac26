"""Declares splits: one explanation where a case or a tensor has a property, and another elsewhere.

A property can be switched: the same numbers with it and without. So a split is not believed because it happens to
separate the cases that were drawn: with the property switched, the other explanation must hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import Law, LawCheck
from optimetry.conformance.laws.universal import reshaping, splitting
from optimetry.conformance.naming.explanation import Candidate
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.oracle.expected import Asked
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.declaration import Hyperparameter
from optimetry.reports.parts import DOCUMENTED, Part


class Side(Candidate, Hashable, Protocol):
    """What may explain one side of a split; expected values are kept by its hash."""

    @property
    def part(self) -> Part:
        """What a verdict records of it, on every case."""
        ...


@dataclass(frozen=True, eq=False)
class Property:
    """A property of a case, or of each of its tensors, that a rule may depend on by mistake or by design.

    Attributes:
        where: the property and its test as a `Part` records them: where it holds, and where it does not.
        holds: whether a case with one tensor has it.
        switched: returns such a case with the property switched on or off; None where that is impossible.
        of_tensors: whether it is a tensor's, not the case's.
        breaks: the checks of the universal laws that a rule breaks by depending on it.
    """

    where: tuple[Mapping[str, Any], Mapping[str, Any]]
    holds: Callable[[Case], bool]
    switched: Callable[[Case], Case | None]
    of_tensors: bool = False
    breaks: tuple[LawCheck, ...] = ()

    def may_break(self, law: Law | None) -> bool:
        """Whether a rule that depends on this alone may break a law; None stands for none."""
        return law is None or law.check in self.breaks


@dataclass(frozen=True, eq=False)
class Split:
    """Two explanations and the property that decides between them, which a target may compute.

    Attributes:
        by: the property.
        true: what explains the target where it holds.
        false: what explains it elsewhere.
    """

    by: Property
    true: Side
    false: Side

    def expected(self, case: Case) -> Expected:
        """Return the expected value of a target that this explains, tensor by tensor."""
        if not self.by.of_tensors:
            return self.side(self.by.holds(case)).expected(case)
        chosen = [self.by.holds(case.only([i])) for i in range(len(case.parameters))]
        if len(set(chosen)) < 2:
            return self.side(chosen[0]).expected(case)
        columns = np.repeat(chosen, [param.size for param in case.parameters])
        true, false = self.true.expected(case), self.false.expected(case)
        value, bound = np.where(columns, true.value, false.value), np.where(columns, true.bound, false.bound)
        return Expected(value, bound, true.start)

    def asks(self, case: Case) -> Iterator[Asked]:
        """Yield what the oracle is asked for by `expected`."""
        parts = [case.only([i]) for i in range(len(case.parameters))] if self.by.of_tensors else [case]
        for holds in dict.fromkeys(map(self.by.holds, parts)):
            yield from self.side(holds).asks(case)

    @property
    def narrow(self) -> bool:
        """Whether one of them holds numbers in float32 beside wider arrays."""
        return self.true.narrow or self.false.narrow

    def side(self, holds: bool) -> Side:
        """Return what explains the target where the property holds, or where it does not."""
        return self.true if holds else self.false

    @property
    def parts(self) -> list[Part]:
        """What a verdict records: the documented rule last."""
        sides = zip((self.true, self.false), self.by.where, strict=True)
        parts = [dataclasses.replace(side.part, where=where) for side, where in sides]
        return sorted(parts, key=lambda part: part.rule == DOCUMENTED and part.given is None)

    @property
    def reason(self) -> str:
        """One sentence on what the target computes where."""
        first, second = self.parts
        return f"computes {first.words}, and {second.words}"


def properties(subject: Subject) -> Iterator[Property]:
    """Yield the properties that a rule may depend on, the simplest first: flags, other hyperparameters, shapes."""
    declared = subject.hyperparameters()
    for flag in declared:
        if flag.kind is bool:
            yield _value(flag, True, False)
    for number in declared:
        special = dict.fromkeys(x for x in (number.default, *number.corners) if x in number.corners)
        for value in special if number.kind is not bool else ():
            others = [other for other in number.corners if other != value]
            if others:
                yield _value(number, value, others[0])
    if not subject.joint:
        both = (limit for limit in (2, 1, 3) if subject.takes((1,) * (limit - 1)) and subject.takes((1,) * limit))
        yield from map(_dimensions, both)
        if subject.takes((1,)):
            yield ONE_ELEMENT


def _value(declared: Hyperparameter, value: Any, other: Any) -> Property:
    """Whether a hyperparameter has a value; switching gives it the other."""
    name = declared.name

    def holds(case: Case) -> bool:
        return bool(case.hyper[name] == value)

    def switched(case: Case) -> Case:
        return case.replace(hyper={**case.hyper, name: other if holds(case) else value})

    otherwise = {"is": other} if declared.kind is bool else {"is_not": value}
    return Property(({"property": name, "is": value}, {"property": name, **otherwise}), holds, switched)


def _dimensions(limit: int) -> Property:
    """Whether a tensor has fewer dimensions."""

    def switched(case: Case) -> Case | None:
        param = case.parameters[0]
        if param.ndim < limit:
            return case.each(lambda array: array.reshape(-1, *(1,) * (limit - 1)))
        if limit == 1:
            return case.each(lambda array: array.reshape(())) if param.size == 1 else None
        return case.each(lambda array: array.reshape(-1))

    where = {"property": DIMENSIONS, "less_than": limit}, {"property": DIMENSIONS, "at_least": limit}
    return Property(where, lambda case: case.parameters[0].ndim < limit, switched, True, (reshaping, splitting))


DIMENSIONS, ELEMENTS = "number of dimensions", "number of elements"


def _resized(case: Case) -> Case | None:
    """Take one element of a tensor, or else repeat its only one; 0-d ones have no other size."""
    param = case.parameters[0]
    if param.ndim == 0:
        return None
    if param.size == 1:
        return case.each(lambda array: np.repeat(array, 3, axis=-1))
    first = (slice(0, 1),) * param.ndim
    return case.each(lambda array: array[first].copy())


ONE_ELEMENT = Property(
    ({"property": ELEMENTS, "is": 1}, {"property": ELEMENTS, "is_not": 1}),
    lambda case: case.parameters[0].size == 1,
    _resized,
    True,
    (reshaping, splitting),
)
