"""Lists what may be done to whole gradients before a rule takes them: a clip by their norm, a mean that is subtracted.

Optimizers of the field do so unasked: LAMB scales all gradients together, and others subtract a gradient's mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.laws.universal import (
    nonfinite_gradients_stay,
    parameters_are_independent,
    permutation,
    reshaping,
    splitting,
)
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.edits.usual import CLIP_GUARDS, CLIP_NORMS, NORM_GUARDS
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.subjects.subject import Subject

EACH, ROWS, ALL = "each gradient", "each row of a gradient", "all gradients together"
COLUMNS = "each column of a gradient"
"""Of what the norm may be; a row is what stands at one place of the first axis, a column at one of the last, and a
vector is one row and one column."""

PARTS, LEAST = (0.01, 0.02, 0.04, 0.1), 1e-3
"""The parts of the norm of a parameter that a gradient's may be at most, and the least such norm, as for NFNets."""

BROKEN = (permutation, reshaping, splitting, nonfinite_gradients_stay)
"""The checks of laws that elements break which depend on others of their tensor, be it by rounding alone."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be done to gradients; wrappers have clips of their own."""
    if not subject.has_learning_rate:
        return
    for whose in (EACH, ALL, ROWS):
        breaks = (*BROKEN, *[parameters_are_independent] * (whose == ALL))
        for limit in CLIP_NORMS:
            run = {"finding": "limited", "what": whose, "norm": limit}
            for guard in CLIP_GUARDS:
                yield Mistake(run=run, alteration=_scaled(whose, partial(_limiting, limit, guard)), breaks=breaks)
        for guard in NORM_GUARDS:
            run = {"finding": "normalized", "what": whose}
            yield Mistake(run=run, alteration=_scaled(whose, partial(_dividing, guard)), breaks=breaks)
    for whose in (EACH, ROWS, COLUMNS):
        for part in PARTS:
            run = {"finding": "limited", "what": whose, "norm": f"{part:g} of that of the parameter"}
            yield Mistake(run=run, alteration=_adapted(whose, part), breaks=BROKEN)
    for axes, which in ((_behind_first, "all axes but the first"), (_every_axis, "all elements")):
        run = {"finding": "centred", "over": which}
        yield Mistake(run=run, alteration=_centred(axes), breaks=BROKEN)


def _limiting(limit: float, guard: float, norm: Any) -> Any:
    return limit / np.maximum(norm + guard, limit)


def _dividing(guard: float, norm: Any) -> Any:
    return 1.0 / (norm + guard)


def _scaled(whose: str, factor: Callable[[Any], Any]) -> Alteration:
    """Multiply gradients by a factor that follows from the norm of `EACH`, of its `ROWS`, or of `ALL`."""

    def step(training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            squares = [_square(whose, grad) for grad in grads if grad is not None]
            if whose == ALL:
                squares = [sum(squares[1:], start=first) for first in squares[:1]] * len(squares)
            factors = iter([factor(np.sqrt(square)) for square in squares])
            return plain([None if grad is None else grad * next(factors) for grad in grads], lr)

    return Alteration(step=step, by_place=True)


def _square(whose: str, array: Any) -> Any:
    """Return the square of the norm of an array, or of each of its `ROWS` or `COLUMNS`."""
    count = len(array.shape)
    axes = {ROWS: _behind_first(count), COLUMNS: tuple(range(count - 1))}.get(whose, ())
    return np.sum(np.square(array), axis=axes or None, keepdims=bool(axes), initial=0.0)


def _adapted(whose: str, part: float) -> Alteration:
    """Limit the norm of each gradient to a part of that of its parameter."""

    def limited(param: Any, grad: Any) -> Any:
        most = part * np.maximum(np.sqrt(_square(whose, param)), LEAST)
        return grad * (most / np.maximum(np.sqrt(_square(whose, grad)), most))

    return _each(limited)


def _centred(axes_of: Callable[[int], tuple[int, ...]]) -> Alteration:
    """Subtract from each gradient its mean over some of its axes; where these are none, it stays."""

    def centred(param: Any, grad: Any) -> Any:
        axes = axes_of(len(grad.shape))
        return grad - np.mean(grad, axis=axes, keepdims=True) if axes else grad

    return _each(centred)


def _each(change: Callable[[Any, Any], Any]) -> Alteration:
    """Change each gradient to what is made of its parameter and it."""

    def step(training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
        pairs = zip(training.parameters, grads, strict=True)
        with np.errstate(all="ignore"):
            return plain([None if grad is None else change(param, grad) for param, grad in pairs], lr)

    return Alteration(step=step, by_place=True)


def _behind_first(count: int) -> tuple[int, ...]:
    """Return all axes but the first, none of a vector or a number."""
    return tuple(range(1, count))


def _every_axis(count: int) -> tuple[int, ...]:
    return tuple(range(count))
