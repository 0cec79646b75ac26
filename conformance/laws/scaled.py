"""Laws of gradients as training loops give them: multiplied by a loss scale, or in parts that are to be averaged.

Both hold to the bit, since factors are powers of two and each part is a multiple of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Grads
from optimetry.conformance.laws.law import Trial, first_difference, is_rule, law, takes_gradients
from optimetry.conformance.laws.variations import rescaled, switched_on
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.session import Call, Session, in_turn, watched

SCALE = 4.0
"""A power of two, by which scaling back is exact."""

PARTS = ((2, 0), (0, 2), (1, 1))
"""The gradients of two parts of a batch, as multiples of their mean, in turns: any order of adding them is exact."""


@law(
    "scaled gradients give the step of the gradients, and a step with an infinite one changes nothing",
    applies=takes_gradients,
)
def scaled_gradients(trial: Trial) -> str | None:
    """Where the case's gradients are finite, scaled as well, and the target offers `Run.step_scaled` or the like."""
    case = switched_on(trial).case
    scaled = [_times(row, SCALE) for row in case.grads]
    if not all(map(_is_finite, scaled)):
        return None
    with watched(trial.guard):
        plain, run = Session(trial.target, case), Session(trial.target, case).run
        step = _offered(trial, run, "scaled")
        if step is None:
            return None
        left_out, before = is_rule(subject_of(case)), flat(case.parameters)

        def calls() -> Iterator[Call]:
            for (grads, rate), scaled_grads in zip(case.steps, scaled, strict=True):
                if left_out:
                    yield partial(step, _times(grads, np.inf), rate, SCALE)
                yield partial(plain.step, grads, rate)
                yield partial(step, scaled_grads, rate, SCALE)

        results = map(flat, in_turn(trial.target, calls()))
        for _ in case.grads:
            if left_out:
                kept = next(results)
                if not same_bits(kept, before):
                    return first_difference((kept != before)[None], kept[None], before[None])
            a, before = next(results), next(results)
            if not same_bits(a, before):
                return first_difference((a != before)[None], a[None], before[None])
    return None


@law("gradients of two parts of a batch give the step of their mean", applies=takes_gradients)
def accumulated_gradients(trial: Trial) -> str | None:
    """Where the case's gradients are finite, doubled as well, and the target offers `Run.step_accumulated` or the like.

    Signs of zeros are left out, as sums that begin at zero lose them, and so is what cannot be halved exactly.
    """
    case = rescaled(switched_on(trial).case, np.array, _halvable)
    if not all(_is_finite(_times(row, 2)) for row in case.grads):
        return None
    with watched(trial.guard):
        plain, run = Session(trial.target, case), Session(trial.target, case).run
        step = _offered(trial, run, "accumulated")
        if step is None:
            return None

        def calls() -> Iterator[Call]:
            for i, (grads, rate) in enumerate(case.steps):
                yield partial(plain.step, grads, rate)
                yield partial(step, [_times(grads, factor) for factor in PARTS[i % len(PARTS)]], rate)

        results = map(flat, in_turn(trial.target, calls()))
        for a, b in zip(results, results, strict=True):
            if not same_bits(a, b):
                return first_difference((a != b)[None], a[None], b[None])
    return None


def _offered(trial: Trial, run: Any, how: str) -> Callable[..., Any] | None:
    """Return the run's method for such gradients, called with a learning rate as well; None where it has none."""
    if is_rule(subject_of(trial.case)):
        return getattr(run, f"step_{how}", None)
    method = getattr(run, f"transform_{how}", None)
    return method and (lambda grads, rate, *scale: method(grads, *scale))


def _times(grads: Grads, factor: float) -> list[Array | None]:
    """Multiply gradients by a power of two, by 0, which leaves no sign, or by infinity, which leaves neither."""

    def times(grad: Array) -> Array:
        if factor == 0 or np.isinf(factor):
            return np.full_like(grad, factor)
        return np.array(grad * grad.dtype.type(factor))

    with np.errstate(over="ignore"):
        return [None if grad is None else times(grad) for grad in grads]


def _halvable(grad: Array) -> Array:
    """Return a gradient with 0 for elements whose half is rounded, as the smallest number's is, and for -0."""
    two = grad.dtype.type(2)
    return np.where((grad / two * two == grad) & (grad != 0), grad, grad.dtype.type(0))


def _is_finite(grads: list[Array | None]) -> bool:
    return all(grad is None or bool(np.isfinite(grad).all()) for grad in grads)
