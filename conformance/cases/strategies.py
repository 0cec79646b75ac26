"""Draws cases: structure, special values and a seed are chosen, and arrays are built from them.

`drawn_cases` chooses with a seeded generator, so that a seed means the same cases whatever else is installed or
imported; `cases` lets Hypothesis choose, for property tests. Both follow one plan.

Default hyperparameters and N(0, 1) gradients hide most defects, so every plan mixes the corners each rule declares with
tensors that a real training run rarely shows: empty and 0-d ones, odd tails, zero norms, gradients near epsilon,
subnormal, shrinking, growing or missing ones, and an element that never gets a gradient.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from hypothesis import strategies as st

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import Drawn, shapes_of
from optimetry.conformance.cases.offered import UNLIMITED, Limits
from optimetry.conformance.cases.sparse import SPARSE, sparse
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS, Format
from optimetry.reference.declaration import Hyperparameter

STEPS = (3, 1, 2, 5, 8, 13, 20, 33, 100)

EPSILON_NAMES = ("epsilon", "eps", "eps1")
"""The names of what keeps divisors from zero, near which gradients are drawn."""

RATES = (0.01, 0.001, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Magnitudes:
    """The decimal exponents between which parameters and gradients are drawn, narrower for narrow formats."""

    low: float
    high: float
    growth: float

    @classmethod
    def of(cls, form: Format) -> Magnitudes:
        """Return the magnitudes that a format can hold with room for squares and a hundred steps."""
        return cls(-2.0, 1.0, 1.0) if form.largest < 1e5 else cls(-4.0, 3.0, 4.0)


class _Draw:
    """The inputs of a gradient pattern: a generator, the format, its magnitudes, epsilon, and the progress 0…1."""

    def __init__(self, rng: np.random.Generator, form: Format, epsilon: float) -> None:
        self.rng = rng
        self.form = form
        self.epsilon = epsilon
        self.magnitudes = Magnitudes.of(form)

    def mixed(self, shape: tuple[int, ...]) -> Any:
        exponents = self.rng.uniform(self.magnitudes.low, self.magnitudes.high, shape)
        return self.rng.choice((-1.0, 1.0), shape) * 10.0**exponents


Pattern = Callable[[_Draw, tuple[int, ...], float], Any]

PATTERNS: dict[str, Pattern] = {
    "mixed": lambda draw, shape, progress: draw.mixed(shape),
    "normal": lambda draw, shape, progress: draw.rng.normal(size=shape),
    "near_epsilon": lambda draw, shape, progress: draw.rng.normal(size=shape) * draw.epsilon * 2,
    "near_root_of_epsilon": lambda draw, shape, progress: draw.rng.normal(size=shape) * np.sqrt(draw.epsilon),
    "shrinking": lambda draw, shape, progress: (
        draw.rng.normal(size=shape) * 10.0 ** (-draw.magnitudes.growth * progress)
    ),
    "growing": lambda draw, shape, progress: (
        draw.rng.normal(size=shape) * 10.0 ** (draw.magnitudes.growth * (progress - 0.5))
    ),
    "one_sign": lambda draw, shape, progress: np.abs(draw.mixed(shape)),
    "sparse": lambda draw, shape, progress: draw.mixed(shape) * (draw.rng.random(shape) < 0.4),
    "zero": lambda draw, shape, progress: np.zeros(shape),
    "subnormal": lambda draw, shape, progress: draw.rng.uniform(-1, 1, shape) * draw.form.smallest_normal,
}
"""Gradients by pattern name; ``progress`` runs from 0 in the first step to 1 in the last."""

PARAMETERS: dict[str, Callable[[_Draw, tuple[int, ...]], Any]] = {
    "mixed": lambda draw, shape: draw.mixed(shape),
    "zero": lambda draw, shape: np.zeros(shape),
    "ones": lambda draw, shape: np.ones(shape),
}

LARGE_PATTERNS = PATTERNS | {SPARSE: lambda draw, shape, progress: sparse(draw.rng.normal(size=shape))}
LARGE_PARAMETERS = PARAMETERS | {SPARSE: lambda draw, shape: sparse(draw.rng.normal(size=shape))}
"""The same, with what large cases alone have."""


@dataclass(frozen=True)
class TensorPlan:
    """The choices for one parameter."""

    shape: tuple[int, ...]
    start: str
    pattern: str
    untouched: bool
    missing: int | None


@dataclass(frozen=True)
class CasePlan:
    """The choices for one case; `case` builds the arrays."""

    optimizer: str
    dtype: str
    hyper: dict[str, Any]
    tensors: tuple[TensorPlan, ...]
    steps: int
    rate: float
    later_rate: float
    seed: int

    def case(self, epsilon: float | None = None) -> Case:
        """Build the case of this plan, the same each time; gradients are near an epsilon, by default its own."""
        epsilon = epsilon_of(self.hyper) if epsilon is None else epsilon
        draw = _Draw(np.random.default_rng(self.seed), FORMATS[self.dtype], epsilon)
        grads = [tuple(self._grad(draw, tensor, step) for tensor in self.tensors) for step in range(self.steps)]
        return Case(
            optimizer=self.optimizer,
            dtype=self.dtype,
            hyper=self.hyper,
            learning_rates=tuple(self.rate if 2 * step < self.steps else self.later_rate for step in range(self.steps)),
            parameters=tuple(_cast(LARGE_PARAMETERS[x.start](draw, x.shape), draw.form) for x in self.tensors),
            grads=tuple(grads),
        )

    def _grad(self, draw: _Draw, tensor: TensorPlan, step: int) -> Array | None:
        grad = _cast(LARGE_PATTERNS[tensor.pattern](draw, tensor.shape, step / max(self.steps - 1, 1)), draw.form)
        if tensor.untouched and grad.size > 1:
            grad.flat[0] = 0
        return None if tensor.missing is not None and step == tensor.missing % self.steps else grad


def epsilon_of(hyper: Mapping[str, Any]) -> float:
    """Return what keeps divisors from zero; a small number where nothing does."""
    return next((hyper[name] for name in EPSILON_NAMES if name in hyper), 1e-3)


def case_of(plan: CasePlan, subject: Drawn, limits: Limits = UNLIMITED) -> Case:
    """Build the case of a plan, as it makes sense for the subject, with gradients near where its epsilon shows.

    That is the epsilon which a target can have. Where it has none, gradients are near the one of the plan.
    """
    near = (subject.epsilon_shows_at(epsilon_of(hyper), hyper) for hyper in (limits.held(plan.hyper), plan.hyper))
    return subject.adapted(plan.case(next(near) or next(near)))


def _cast(values: Any, form: Format) -> Array:
    return np.asarray(values, dtype=np.float64).astype(form.dtype)


T = TypeVar("T")


class Chooser(Protocol):
    """Makes the choices that a plan leaves open; a case has at least ``fewest`` tensors."""

    fewest: ClassVar[int]

    def among(self, values: Sequence[T]) -> T:
        """Choose one of the values."""
        ...

    def between(self, low: int, high: int) -> int:
        """Choose a whole number from ``low`` to ``high``, both included."""
        ...

    def rarely(self) -> bool:
        """Choose True in one case out of three."""
        ...


def plan(choose: Chooser, subject: Drawn, dtype: str) -> CasePlan:
    """Choose a plan for one subject in one dtype.

    Rules that scale a step by norms get smaller rates, since a step as long as the parameter amplifies every rounding
    error in the next, unless shapes matter: their steps are of one size. They get no subnormal gradients, whose norm
    underflows: both would leave nothing to be judged.
    """
    hyper = {declared.name: _value(choose, declared) for declared in subject.hyperparameters()}
    patterns = [name for name in PATTERNS if subject.elementwise or name != "subnormal"]
    scale = 1.0 if subject.elementwise or subject.shaped else 0.1
    shapes = shapes_of(subject)
    return CasePlan(
        optimizer=subject.name,
        dtype=dtype,
        hyper=hyper,
        tensors=tuple(_tensor(choose, shapes, patterns) for _ in range(choose.between(choose.fewest, 5))),
        steps=choose.among(STEPS),
        rate=_rate(choose) * scale,
        later_rate=_rate(choose) * scale,
        seed=choose.between(0, 2**32 - 1),
    )


def _tensor(choose: Chooser, shapes: Sequence[tuple[int, ...]], patterns: Sequence[str]) -> TensorPlan:
    return TensorPlan(
        shape=choose.among(shapes),
        start=choose.among(tuple(PARAMETERS)),
        pattern=choose.among(patterns),
        untouched=choose.among((False, True)),
        missing=choose.between(0, 99) if choose.rarely() else None,
    )


def _rate(choose: Chooser) -> float:
    return choose.among(RATES) if choose.between(1, 2) == 1 else _logarithmic(choose)


def _value(choose: Chooser, declared: Hyperparameter) -> Any:
    """Choose a hyperparameter: mostly its default or a declared corner, else another number in its domain."""
    known = [x for x in dict.fromkeys((*declared.corners, declared.default)) if x is not None]
    if declared.domain is None or choose.between(1, 3) < 3:
        return choose.among(known)
    low, high = declared.domain.ends
    if declared.kind is int:
        return choose.between(int(low), int(min(high, low + 5)))
    return max(low, 0.0) + _logarithmic(choose) if high == np.inf else max(low, high - 1) + choose.between(1, 99) / 100


def _logarithmic(choose: Chooser) -> float:
    """Choose a number from 0.001 to 1, evenly spaced in its logarithm."""
    return float(10.0 ** (choose.between(-24, 0) / 8))


@dataclass(frozen=True)
class _Seeded:
    """Chooses by a seeded generator of Python's own, whose sequence is part of the language."""

    rng: random.Random
    fewest: ClassVar[int] = 2

    def among(self, values: Sequence[T]) -> T:
        return values[self.rng.randrange(len(values))]

    def between(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def rarely(self) -> bool:
        return self.rng.randint(1, 3) == 1


@dataclass(frozen=True)
class _Hypothesis:
    """Lets Hypothesis choose, and shrink its choices towards the smallest, or else the first."""

    draw: st.DrawFn
    fewest: ClassVar[int] = 1

    def among(self, values: Sequence[T]) -> T:
        return self.draw(st.sampled_from(sorted(values, key=_size)))

    def between(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def rarely(self) -> bool:
        return self.draw(st.integers(1, 3)) == 3


def _size(value: Any) -> float:
    """Return how large a choice makes a case: the elements of a shape, a number of steps; an empty tensor is last."""
    if isinstance(value, tuple):
        return math.prod(value) or math.inf
    return value if isinstance(value, int) else 0


@st.composite
def cases(draw: st.DrawFn, subject: Drawn, dtype: str) -> Case:
    """Return a Hypothesis strategy: cases for one subject in one dtype, by the same plan as `drawn_cases`.

    .. code-block:: python

        @given(cases(subject_named("adam"), "float32"))
        def test_my_adam(case): ...
    """
    return case_of(plan(_Hypothesis(draw), subject, dtype), subject)


def drawn_cases(subject: Drawn, dtype: str, *, seed: int, count: int, limits: Limits = UNLIMITED) -> Iterator[Case]:
    """Draw ``count`` cases, the same for the same seed, each independent of the others; the latest are cached.

    Limits choose the epsilon that gradients are drawn near to; `Limits.offered` makes what is drawn a case of a target.
    """
    epsilons = dataclasses.replace(limits, cannot=frozenset()) if limits.bounds else UNLIMITED
    return (_drawn(subject, dtype, seed, number, epsilons) for number in range(count))


@lru_cache(maxsize=400)
def _drawn(subject: Drawn, dtype: str, seed: int, number: int, limits: Limits) -> Case:
    return case_of(seeded_plan(subject, dtype, f"{seed} {number}"), subject, limits)


def seeded_plan(subject: Drawn, dtype: str, seed: str) -> CasePlan:
    """Choose a plan for one subject in one dtype, the same for the same seed.

    The dtype takes no part in the choices: what one dtype shows, the others are asked, too.
    """
    return plan(_Seeded(random.Random(f"{subject.name} {seed}")), subject, dtype)
