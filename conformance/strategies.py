"""Hypothesis strategies for cases: structure, special values and a seed are drawn, arrays are built from them.

Default hyperparameters and N(0, 1) gradients hide most defects, so every plan mixes the corners each rule declares with
tensors that a real training run rarely shows: empty and 0-d ones, odd tails, zero norms, gradients near epsilon,
subnormal, shrinking, growing or missing ones, and an element that never gets a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from optimetry.conformance.case import Case
from optimetry.conformance.formats import FORMATS, Format
from optimetry.conformance.targets.target import Array
from optimetry.reference.rule import Hyperparameter
from optimetry.reference.rules import rule_named

SHAPES = ((17,), (3,), (), (1,), (0,), (2, 3), (67,), (1, 5, 1), (131,), (4, 1, 9))
"""Tensor shapes: 0-d, empty, and lengths that leave a tail behind every vector width."""

STEPS = (3, 1, 2, 5, 8, 13, 20, 33, 100)

RATES = (0.01, 0.001, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Magnitudes:
    """The decimal exponents between which parameters and gradients are drawn, narrower for narrow formats."""

    low: float
    high: float
    growth: float

    @classmethod
    def of(cls, form: Format) -> Magnitudes:
        """What the format holds with room for squares and a hundred steps."""
        return cls(-2.0, 1.0, 1.0) if form.largest < 1e5 else cls(-4.0, 3.0, 4.0)


class _Draw:
    """What a gradient pattern may use: a generator, the format, its magnitudes, epsilon, and the progress 0…1."""

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


@dataclass(frozen=True)
class Tensor:
    """What is drawn for one parameter."""

    shape: tuple[int, ...]
    start: str
    pattern: str
    untouched: bool
    missing: int | None


@dataclass(frozen=True)
class Plan:
    """What is drawn for one case; `case` builds the arrays."""

    optimizer: str
    dtype: str
    hyper: dict[str, Any]
    tensors: tuple[Tensor, ...]
    steps: int
    rate: float
    later_rate: float
    seed: int

    def case(self) -> Case:
        """The case of this plan, the same each time."""
        draw = _Draw(np.random.default_rng(self.seed), FORMATS[self.dtype], self.hyper.get("epsilon", 1e-3))
        grads = [tuple(self._grad(draw, tensor, step) for tensor in self.tensors) for step in range(self.steps)]
        return Case(
            optimizer=self.optimizer,
            dtype=self.dtype,
            hyper=self.hyper,
            learning_rates=tuple(self.rate if 2 * step < self.steps else self.later_rate for step in range(self.steps)),
            parameters=tuple(_cast(PARAMETERS[x.start](draw, x.shape), draw.form) for x in self.tensors),
            grads=tuple(grads),
        )

    def _grad(self, draw: _Draw, tensor: Tensor, step: int) -> Array | None:
        grad = _cast(PATTERNS[tensor.pattern](draw, tensor.shape, step / max(self.steps - 1, 1)), draw.form)
        if tensor.untouched and grad.size > 1:
            grad.flat[0] = 0
        return None if tensor.missing is not None and step == tensor.missing % self.steps else grad


def _cast(values: Any, form: Format) -> Array:
    return np.asarray(values, dtype=np.float64).astype(form.dtype)


def values_of(declared: Hyperparameter) -> st.SearchStrategy[Any]:
    """Values of one hyperparameter: its default, its declared corners and, for numbers, others in its domain."""
    known = st.sampled_from([x for x in dict.fromkeys((*declared.corners, declared.default)) if x is not None])
    if declared.kind is bool or declared.domain is None:
        return known
    low, high = declared.domain.ends
    if declared.kind is int:
        return known | st.integers(int(low), int(min(high, low + 5)))
    if high == np.inf:
        return known | known | st.integers(-24, 0).map(lambda tenths: 10.0 ** (tenths / 8))
    return known | known | st.integers(1, 99).map(lambda part: max(low, high - 1) + part / 100)


def plans(optimizer: str, dtype: str) -> st.SearchStrategy[Plan]:
    """Plans of cases for one rule in one dtype."""
    declared = rule_named(optimizer).hyperparameters()
    rates = st.sampled_from(RATES) | st.integers(-24, 0).map(lambda tenths: 10.0 ** (tenths / 8))
    tensor = st.builds(
        Tensor,
        shape=st.sampled_from(SHAPES),
        start=st.sampled_from(tuple(PARAMETERS)),
        pattern=st.sampled_from(tuple(PATTERNS)),
        untouched=st.booleans(),
        missing=st.none() | st.none() | st.integers(0, 99),
    )
    return st.builds(
        Plan,
        optimizer=st.just(optimizer),
        dtype=st.just(dtype),
        hyper=st.fixed_dictionaries({x.name: values_of(x) for x in declared}),
        tensors=st.lists(tensor, min_size=2, max_size=5).map(tuple),
        steps=st.sampled_from(STEPS),
        rate=rates,
        later_rate=rates,
        seed=st.integers(0, 2**32 - 1),
    )


def cases(optimizer: str, dtype: str) -> st.SearchStrategy[Case]:
    """Cases for one rule in one dtype, for property tests."""
    return plans(optimizer, dtype).map(Plan.case)


CHUNK = 40
"""How many cases are drawn, and held, at a time."""


def drawn_cases(optimizer: str, dtype: str, *, seed: int, count: int) -> Iterator[Case]:
    """``count`` cases, the same for the same seed; only the latest chunks of them are held."""
    for start in range(0, count, CHUNK):
        yield from _chunk(optimizer, dtype, seed * 1_000_003 + start, min(CHUNK, count - start))


@lru_cache(maxsize=4)
def _chunk(optimizer: str, dtype: str, chunk_seed: int, count: int) -> tuple[Case, ...]:
    drawn: list[Plan] = []

    @seed(chunk_seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(plans(optimizer, dtype))
    def collect(plan: Plan) -> None:
        drawn.append(plan)

    collect()
    return tuple(plan.case() for plan in drawn[:count])
