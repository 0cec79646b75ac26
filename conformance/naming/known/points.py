"""Groups the points of a family, one for each choice on every axis, into classes that are algebraically one rule.

Where both corrections of Adam are off, say, the count that they would use does not matter: such points are one class.
``classes.json`` holds the classes, found by `merged` on many cases; ``python -m
optimetry.conformance.naming.known.probe_search`` writes it anew, and tests hold it against fresh evaluations.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.families.family import (
    DIALECTS,
    FAMILIES,
    MOST_WITH_RARE,
    WITH_ARITHMETIC,
    Axis,
    Dialect,
    StepCount,
    axes,
)
from optimetry.conformance.naming.known.counting import with_step_count
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.magnitudes import magnitude_of
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import STEP_COUNT
from optimetry.reference.declaration import Declared

FILE = "classes.json"

DOCUMENTED = "documented"
"""The name of the class that holds the documented point."""

Point = Mapping[str, str]
"""The value of every axis that differs from the document; the documented point is empty."""


@dataclass(frozen=True)
class PointClass:
    """Points of one family that compute the same on every input; or one dialect that is no point of a family.

    Attributes:
        optimizer: the name of the documented subject.
        name: ``documented``, a dialect's name, or the axes in which its simplest point differs.
        points: its points, the simplest first, which names the class.
        dialect: the named dialect that is one of its points, if one is.
        step_count: how it counts steps, None for the documented way.
    """

    optimizer: str
    name: str
    points: tuple[Point, ...] = dataclasses.field(hash=False)
    dialect: Dialect | None = None
    step_count: StepCount | None = None

    @property
    def point(self) -> Point:
        """The point that stands for the class."""
        return self.points[0]

    @property
    def documented(self) -> bool:
        """Whether this is the documented rule."""
        return self.dialect is None and not self.point and self.step_count is None

    @property
    def computed(self) -> str:
        """The name of the rule whose formula it is, which may be another than the one that it explains."""
        return self.dialect.optimizer if self.dialect else self.optimizer

    @property
    def differences(self) -> list[tuple[Axis, str]]:
        """The axes that differ from the document, with the value of each."""
        declared = family_axes(self.optimizer)
        return [(declared[name], value) for name, value in self.point.items()]

    @property
    def difference(self) -> str:
        """What differs from the document, as formulas."""
        formula = [self.dialect.difference] if self.dialect else [x.values[value] for x, value in self.differences]
        return "; ".join([*formula, *([self.step_count.difference] if self.step_count else [])])

    @property
    def declared(self) -> Dialect | StepCount | None:
        """The declaration of who computes it; None for the document, and where nobody is known to."""
        return self.dialect or (None if self.point else self.step_count)

    @property
    def origin(self) -> str:
        """Which frameworks, versions or papers compute it."""
        return self.declared.origin if self.declared else "no framework or paper known here"

    @property
    def reference(self) -> str:
        """Where that can be read; empty where nothing is declared."""
        return self.declared.reference if self.declared else ""

    def of(self, hyper: Mapping[str, Any]) -> Declared:
        """Return the formula of the class with these documented hyperparameters.

        Raises:
            HyperparameterError: as for the documented one.
        """
        computed = self.dialect.of(hyper) if self.dialect else at(self.optimizer, self.point, hyper)
        return computed.with_values({STEP_COUNT: self.step_count.value}) if self.step_count else computed

    def counting(self, step_count: StepCount) -> PointClass:
        """Return the same formula with another way of counting steps."""
        name = step_count.name if self.documented else f"{self.name}, {step_count.name}"
        return dataclasses.replace(self, name=name, step_count=step_count)


def counts_steps(optimizer: str) -> bool:
    """Whether some formula of a family, or of a rule without one, depends on the number of the step."""
    return hasattr(formula_of(optimizer), STEP_COUNT)


def family_axes(optimizer: str) -> dict[str, Axis]:
    """Return the axes of a rule's family by name; none for a rule that has no family."""
    return axes(FAMILIES[optimizer]) if optimizer in FAMILIES else {}


def at(optimizer: str, point: Point, hyper: Mapping[str, Any]) -> Declared:
    """Return the formula at one point of a family, or the documented one where there is no family."""
    return dataclasses.replace(formula_of(optimizer).of(hyper), **point)


def formula_of(optimizer: str) -> type[Declared]:
    """Return the documented formula with every choice: of the rule, of how it is computed, and of what t counts."""
    return FAMILIES.get(optimizer) or WITH_ARITHMETIC.get(optimizer) or with_step_count(optimizer)


def points_of(optimizer: str) -> list[Point]:
    """Return every point of a family, those that differ in the fewest axes first; the documented one leads.

    Every combination of the axes' values is one, except that rare values are combined with few others: those of
    declared dialects, and else at most two others, which are not rare.
    """
    declared = family_axes(optimizer)
    every = [dict(zip(declared, values, strict=True)) for values in product(*(x.values for x in declared.values()))]
    points = [{name: v for name, v in point.items() if v != declared[name].documented} for point in every]
    rare = {(name, value) for name, axis in declared.items() for value in axis.rare}
    named = [dialect.point for dialect in DIALECTS.get(optimizer, ())]

    def tried(point: Point) -> bool:
        chosen = rare & point.items()
        return not chosen or (len(chosen) == 1 and len(point) <= MOST_WITH_RARE) or point in named

    return sorted(filter(tried, points), key=len)


@cache
def classes_of(optimizer: str) -> tuple[PointClass, ...]:
    """Return the classes of a subject's family: the documented one, then the named ones, then the others.

    Raises:
        UnknownOptimizerError: no such subject.
    """
    subject_named(optimizer)
    dialects = DIALECTS.get(optimizer, ())
    classes = [_named(optimizer, group, dialects) for group in stored().get(optimizer, [[{}]])]
    classes += [PointClass(optimizer, dialect.name, ({},), dialect) for dialect in dialects if not dialect.point]
    return tuple(sorted(classes, key=lambda member: 0 if member.documented else 1 if member.dialect else 2))


def documented_class(optimizer: str) -> PointClass:
    """Return the class that holds the documented formula."""
    return classes_of(optimizer)[0]


def named_classes(optimizer: str) -> list[PointClass]:
    """Return the classes of the named dialects."""
    return [member for member in classes_of(optimizer) if member.dialect is not None]


def _named(optimizer: str, group: list[Point], dialects: Iterable[Dialect]) -> PointClass:
    for dialect in dialects:
        if dialect.point and dialect.point in group:
            others = [point for point in group if point != dialect.point]
            return PointClass(optimizer, dialect.name, (dialect.point, *others), dialect)
    return PointClass(optimizer, by_axes(group[0]) or DOCUMENTED, tuple(group))


def by_axes(point: Point) -> str:
    """Return the axes in which a point differs, each with its value: the name of a class without another."""
    return ", ".join(f"{axis}={value}" for axis, value in point.items())


@cache
def stored() -> dict[str, list[list[Point]]]:
    """Read the stored classes, by rule."""
    file = resources.files(__package__).joinpath(FILE)
    return decoded(file.read_text(encoding="utf-8"))


def decoded(text: str) -> dict[str, list[list[Point]]]:
    """Read the classes that `encoded` wrote, by rule."""
    classes: dict[str, list[list[Point]]] = {}
    for optimizer, groups in json.loads(text).items():
        declared = family_axes(optimizer)
        digits = {(name, str(i)): value for name, x in declared.items() for i, value in enumerate(x.values)}
        classes[optimizer] = [
            [
                {name: digits[name, d] for name, d in zip(declared, code, strict=True) if d != "0"}
                for code in group.split()
            ]
            for group in groups
        ]
    return classes


def encoded(classes: Mapping[str, list[list[Point]]]) -> str:
    """Write classes as text: a point is one digit for each axis, the place of its value there; 0 is documented."""

    def code(optimizer: str, point: Point) -> str:
        return "".join(
            str(list(x.values).index(point.get(name, x.documented))) for name, x in family_axes(optimizer).items()
        )

    texts = {
        optimizer: [" ".join(code(optimizer, point) for point in group) for group in groups]
        for optimizer, groups in classes.items()
    }
    return json.dumps(texts, indent=1) + "\n"


EXACTLY = 1e-6
"""The largest distance of equal points, in units of the bounds: quad precision against double precision's bounds."""


def merged(optimizer: str, cases: Iterable[Case], points: Iterable[Point] | None = None) -> list[list[Point]]:
    """Group points, by default all of the family, that no case separates; cases must be in float64."""
    groups = [list(points_of(optimizer) if points is None else points)]
    for case in cases:
        groups = [part for group in groups for part in ([group] if len(group) == 1 else _split(group, optimizer, case))]
    return groups


def _split(group: list[Point], optimizer: str, case: Case) -> list[list[Point]]:
    """Split a group; vacuous elements separate nothing. That groups differ is proved by the probes."""
    parts: list[tuple[Expected, list[Point]]] = []
    for point in group:
        oracle = expected(case, at(optimizer, point, case.hyper))
        for known, part in parts:
            if np.max(separations(oracle, known), initial=0.0) <= EXACTLY:
                part.append(point)
                break
        else:
            parts.append((oracle, [point]))
    return [part for _, part in parts]


def separations(a: Expected, b: Expected) -> Any:
    """Return the separation of two rules in every element, in units of the sum of their bounds, as float64.

    A target within s bounds of one rule is at least S bounds away from the other where their separation S is s or
    more: ``|x - b| >= |a - b| - |x - a| >= S*(bound_a + bound_b) - s*bound_a >= S*bound_b``. So no target conforms to
    both, and the error ratio of the other shows how clear that is. Where one rule has no finite value and the other is
    known, they are infinitely far apart; where neither is known, or one is vacuous, nothing is said.
    """
    with np.errstate(all="ignore"):
        finite = np.isfinite(a.value), np.isfinite(b.value)
        known = finite[0] & np.isfinite(a.bound), finite[1] & np.isfinite(b.bound)
        distance = magnitude_of(a.value - b.value)
        share = np.where(distance == 0, 0.0, distance / (a.bound + b.bound))
    one_alone = (known[0] & ~finite[1]) | (known[1] & ~finite[0])
    return np.where(known[0] & known[1], share, np.where(one_alone, np.inf, 0.0))
