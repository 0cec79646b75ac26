"""Laws of gradients as training loops give them: multiplied by a loss scale, or in parts that are to be averaged.

Both hold to the bit, since factors are powers of two and each part is a multiple of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case, Grads
from optimetry.conformance.laws.law import Trial, exact_difference, is_rule, law, takes_gradients
from optimetry.conformance.laws.variations import big, switched_on
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.session import Call, Session, in_turn, watched

SCALES = (65536.0, 0.25, 4.0)
"""Powers of two, by which scaling back is exact, in turns: the one that torch's scaler begins with, and small ones."""

POISONS = (np.nan, -np.inf, np.inf)
"""What stands in one entry of a step that is left out, in turns."""

PARTS = ((2, 0), (0, 0, 0, 4), (0, 2), (1, 1))
"""The gradients of the parts of a batch, as multiples of their mean, in turns: any order of adding them is exact.

So is a running mean: of more than two parts only the last is not zero, as a third of anything would be rounded.
"""


@law(
    "scaled gradients give the step of the gradients, and a step with an infinite or NaN one changes nothing",
    applies=takes_gradients,
)
def scaled_gradients(trial: Trial) -> str | None:
    """Where the case's gradients are finite, scaled as well, and the target offers `Run.step_scaled` or the like.

    Before every step of an update rule three are left out: one whose gradients are all infinite, and two with a single
    entry that is not finite, the last of the last gradient or the first of the first. So is one of a big parameter.
    """
    case = switched_on(trial).case
    scales = [_scale(case, step) for step in range(len(case.grads))]
    if not all(scales):
        return None
    with watched(trial.guard):
        plain, run = Session(trial.target, case), Session(trial.target, case).run
        step = _offered(trial, run, "scaled")
        if step is None:
            return None
        leaves_out, before = is_rule(subject_of(case)), flat(case.parameters)[None]

        def calls() -> Iterator[Call]:
            for (grads, rate), scale, poison in zip(case.steps, scales, cycle(POISONS), strict=False):
                scaled = _times(grads, scale)
                if leaves_out:
                    yield partial(step, _times(grads, np.inf), rate, scale)
                    for last in (True, False):
                        yield partial(step, _poisoned(scaled, poison, last), rate, scale)
                yield partial(plain.step, grads, rate)
                yield partial(step, scaled, rate, scale)

        results = (flat(after)[None] for after in in_turn(trial.target, calls()))
        for scale, poison in zip(scales, cycle(POISONS), strict=False):
            for entry in ("all inf", f"one {poison}", f"{poison} first") if leaves_out else ():
                if (contradiction := exact_difference(next(results), before)) is not None:
                    return contradiction.extended(f", of gradients with {entry}")
            a, before = next(results), next(results)
            if (contradiction := exact_difference(a, before)) is not None:
                return contradiction.extended(f", under a scale of {scale:g}")
        return next(filter(None, map(_step_of_big, big(trial, 1))), None) if leaves_out else None


def _step_of_big(trial: Trial) -> str | None:
    """Describe what a step changes whose last of many gradients is not a number."""
    if not trial.offered:
        return None
    session, (grads, rate) = Session(trial.target, trial.case), next(trial.case.steps)
    step: Any = _offered(trial, session.run, "scaled")
    (after,) = in_turn(trial.target, [partial(step, _poisoned(grads, np.nan, True), rate, 1.0)])
    contradiction = exact_difference(flat(after)[None], flat(trial.case.parameters)[None])
    return contradiction and contradiction.extended(f", of {trial.case.size} gradients with one nan")


@law("gradients of the parts of a batch give the step of their mean", applies=takes_gradients)
def accumulated_gradients(trial: Trial) -> str | None:
    """Where the case's gradients are finite, doubled as well, and the target offers `Run.step_accumulated` or the like.

    Signs of zeros are left out, as sums that begin at zero lose them, and so is what cannot be halved exactly.
    """
    case = switched_on(trial).case.mapped(grad=_halvable)
    if not all(_is_finite(_times(row, 2)) for row in case.grads):
        return None
    with watched(trial.guard):
        plain, run = Session(trial.target, case), Session(trial.target, case).run
        step = _offered(trial, run, "accumulated")
        if step is None:
            return None
        factors = [_parts(grads, i) for i, grads in enumerate(case.grads)]

        def calls() -> Iterator[Call]:
            for (grads, rate), multiples in zip(case.steps, factors, strict=True):
                yield partial(plain.step, grads, rate)
                yield partial(step, [_times(grads, factor) for factor in multiples], rate)

        results = (flat(after)[None] for after in in_turn(trial.target, calls()))
        for a, b, multiples in zip(results, results, factors, strict=True):
            if (contradiction := exact_difference(a, b)) is not None:
                return contradiction.extended(f", of {len(multiples)} parts")
    return None


def _scale(case: Case, step: int) -> float:
    """Return the scale of a step's gradients: the next of `SCALES`, or the last where it cannot be; 0 if none can.

    In a narrow format it is at most the largest whose inverse is no subnormal number.
    """
    most = 1 / case.form.smallest_normal
    wanted = (min(SCALES[step % len(SCALES)], most), SCALES[-1])
    return next((scale for scale in wanted if _can_be_scaled(case, step, scale)), 0.0)


def _can_be_scaled(case: Case, step: int, scale: float) -> bool:
    """Whether scaled gradients are finite, and none has become subnormal, which is inexact or may be flushed."""
    scaled = _times(case.grads[step], scale)
    normal = (array is None or bool((np.abs(array[array != 0]) >= case.form.smallest_normal).all()) for array in scaled)
    return _is_finite(scaled) and (scale > 1 or all(normal))


def _poisoned(grads: Sequence[Array | None], poison: float, last: bool) -> list[Array | None]:
    """Put what is not finite into the last entry of the last gradient that has any, or the first of the first."""
    changed = [None if grad is None else grad.copy() for grad in grads]
    holding = [grad for grad in changed if grad is not None and grad.size]
    for grad in holding[-1:] if last else holding[:1]:
        grad.flat[-1 if last else 0] = poison
    return changed


def _parts(grads: Grads, step: int) -> tuple[int, ...]:
    """Return the parts of a step's gradients: the next of `PARTS`, or the first where one overflows."""
    wanted = PARTS[step % len(PARTS)]
    return wanted if _is_finite(_times(grads, max(wanted))) else PARTS[0]


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


def _is_finite(grads: Sequence[Array | None]) -> bool:
    return all(grad is None or bool(np.isfinite(grad).all()) for grad in grads)
