"""Makes the vectors that no small drawn case covers: long runs, large tensors, many tensors, NaN and infinities.

They cost few bytes because what they hold is a short pattern, which begins again. The expected values of a rule that is
elementwise begin again with it, and so do those of a norm over equal patterns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import Shape, fitting
from optimetry.conformance.judging.vectors.ordinary import SEED, judged
from optimetry.conformance.laws.readings import kinds_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults

LONG_SHAPE: Shape = (5,)
LONG_GRADS = (
    (1.5, 0.5, 3000.0, 0.0, 1e-7),
    (0.5, -0.75, 0.5, 0.0, 3e-7),
    (2.0, 0.25, 2.0, 1.0, 2e-7),
    (0.75, -1.0, -1.0, 0.0, 8e-7),
    (1.25, 0.5, 0.25, 0.0, 5e-7),
)
"""Five steps, which begin again: one sign, so that a wrong factor adds up; signs that alternate; a large gradient among
small ones; one that is mostly zero; small ones."""

LONG_RATES = (0.01, 0.02, 0.005)
LONG_CHECKED = (22, 30, 100, 257, 300, 1001, 1250, 2100, 2500)
"""Steps behind which a count may be wrong: in 8 bits, in bfloat16 (256), of a table of 1,000 entries, in float16
(2,048); and later ones, where its effect has grown."""

LARGE_SHAPES: tuple[Shape, ...] = ((70_003,), (4096,), (257, 5), (2, 65, 3))
"""Beyond 16 bits and with a tail behind every block; a whole block; more rows than 256, and more planes than 64."""

NORM_SHAPES: tuple[Shape, ...] = ((4099,),)
"""The same where norms join the elements: more would leave nothing to be said of them (decision 19)."""

PATTERN = 7
"""Elements after which a large tensor begins again, a divisor of no block."""

MANY_SHAPES: tuple[Shape, ...] = ((3,), (), (1,), (2, 3), (2,))
STACKED_SHAPES: tuple[Shape, ...] = (*MANY_SHAPES, (2, 3, 2))
"""The same with two matrices in one parameter, where rows and columns are told apart."""

MANY = 331
"""Tensors, which begin again: more than launches of 64 and of 320 take."""

POISONED_SHAPE, CLEAN_SHAPE, POISONED_STEP = (7,), (3,), 1
POISONS: Mapping[int, float] = {1: np.nan, 3: np.inf, 5: -np.inf}
"""What stands in a gradient, by element."""

NONFINITE, FINITE = "nonfinite", "finite"
"""What kind of number a result must be where no value can be expected."""


@dataclass(frozen=True)
class Vector:
    """A run to write down, without what begins again.

    Attributes:
        name: the end of its id.
        case: the run, of which arrays may have fewer elements than their shapes, and tensors and steps may be fewer.
        shapes: the shapes of the parameters that it has.
        tensors: the number of parameters.
        checked: the steps, counted from 1, whose results are compared; the run ends with the last.
        flags: the names of the dialects that it tells apart.
        kinds: what results must be by (step, element), where it is no value: `NONFINITE` or `FINITE`.
    """

    name: str
    case: Case
    shapes: tuple[Shape, ...]
    tensors: int
    checked: tuple[int, ...]
    flags: tuple[str, ...] = ()
    kinds: Mapping[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, case: Case, flags: Sequence[str] = ()) -> Vector:
        """Make a vector in which nothing begins again, and every step is compared."""
        shapes = tuple(param.shape for param in case.parameters)
        return cls(name, case, shapes, len(shapes), tuple(range(1, len(case.grads) + 1)), tuple(flags))

    @cached_property
    def evaluated(self) -> Case:
        """The case that gives the expected values: all steps, and whole arrays unless elements are independent."""
        steps, case = self.checked[-1], self.case
        parameters, grads = case.parameters, case.grads
        if not subject_named(case.optimizer).elementwise:
            parameters = self._whole(parameters)
            grads = tuple(map(self._whole, grads))
        return case.replace(
            parameters=parameters,
            grads=tuple(grads[step % len(grads)] for step in range(steps)),
            learning_rates=tuple(case.learning_rates[step % len(case.learning_rates)] for step in range(steps)),
        )

    def _whole(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        pairs = zip(arrays, self.shapes, strict=True)
        return tuple(None if array is None else np.resize(array, shape) for array, shape in pairs)


def extremes(optimizer: str, dtype: str) -> Iterator[Vector]:
    """Yield the vectors beside the ordinary ones, at the defaults of the document, if they say something to the end."""
    subject = subject_named(optimizer)
    assert isinstance(subject, RuleSubject)
    made = _Made(subject, dtype)
    if subject.elementwise:
        yield made.nonfinite()
    if not subject.shaped:
        yield made.large(LARGE_SHAPES if subject.elementwise else NORM_SHAPES)
    yield from (vector for vector in (made.many(), made.long()) if judged(vector.evaluated).known[-1].any())


@dataclass(frozen=True)
class _Made:
    """Makes the vectors of one rule and dtype."""

    subject: RuleSubject
    dtype: str

    def long(self) -> Vector:
        case = self._case([LONG_SHAPE], len(LONG_GRADS), LONG_RATES)
        shape = case.parameters[0].shape
        case = case.replace(grads=tuple((np.resize(np.asarray(row, self._dtype), shape),) for row in LONG_GRADS))
        return Vector("long", case, (shape,), 1, LONG_CHECKED)

    def large(self, shapes: Sequence[Shape]) -> Vector:
        case = self._case([(min(PATTERN, math.prod(shape)),) for shape in shapes], 2, (0.1,))
        return Vector("large", case, tuple(shapes), len(shapes), (1, 3))

    def many(self) -> Vector:
        case = self._case(STACKED_SHAPES if self.subject.shaped else MANY_SHAPES, 2, (0.1,))
        shapes = tuple(param.shape for param in case.parameters)
        return Vector("many", case, shapes, MANY, (1, 2))

    def nonfinite(self) -> Vector:
        case = self._case([POISONED_SHAPE, CLEAN_SHAPE], 4, (0.1,))
        grads = [list(row) for row in case.grads]
        poisoned = np.array(grads[POISONED_STEP][0])
        poisoned[list(POISONS)] = list(POISONS.values())
        grads[POISONED_STEP][0] = poisoned
        vector = Vector.of("nonfinite", case.replace(grads=tuple(map(tuple, grads))))
        rule, alone = self.subject.of(case.hyper), vector.evaluated.only([0])
        kinds = {(POISONED_STEP, i): required_of(kinds_of(rule, alone, POISONED_STEP, i)) for i in POISONS}
        return dataclasses.replace(vector, kinds={place: kind for place, kind in kinds.items() if kind})

    @property
    def _dtype(self) -> np.dtype[Any]:
        return FORMATS[self.dtype].dtype

    def _case(self, shapes: Sequence[Shape], steps: int, rates: Sequence[float]) -> Case:
        """Make a case of normally distributed numbers at the defaults."""
        rng = np.random.default_rng(SEED)
        shapes = [fitting(self.subject, shape) for shape in shapes]
        hyper, _ = documented_defaults(self.subject)
        scale = 1.0 if self.subject.elementwise or self.subject.shaped else 0.1

        def drawn() -> tuple[Array, ...]:
            return tuple(np.asarray(rng.normal(size=shape)).astype(self._dtype) for shape in shapes)

        return self.subject.adapted(
            Case(
                optimizer=self.subject.name,
                dtype=self.dtype,
                hyper=hyper,
                learning_rates=tuple(rate * scale for rate in rates),
                parameters=drawn(),
                grads=tuple(drawn() for _ in range(steps)),
            )
        )


def required_of(kinds: Set[str]) -> str | None:
    """Return what a number must be that readings of the formula give as these kinds; None where they may differ.

    Of infinities and NaN the order of operations may choose either, so that a vector asks for one of them.
    """
    if FINITE in kinds:
        return FINITE if len(kinds) == 1 else None
    return NONFINITE
