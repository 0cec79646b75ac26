"""Lists what may be done to the size of steps, before they are multiplied by the learning rate, or of parameters.

All stand around other optimizers in the field: the clip and the relative steps of Adafactor, the ratio of LARS and of
LAMB, and the parameters of a critic, which are clipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.naming.alterations import Alteration, step_of
from optimetry.conformance.naming.edits.usual import NORM_GUARDS
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.decay import strengths
from optimetry.conformance.naming.runs.scaled import BROKEN
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.norms import norm, rms
from optimetry.reference.rule import Rule, State

LARGEST = 1.0
"""The largest root mean square or norm of a step, before it is multiplied by the learning rate."""

LIMITS = (1.0, 5.0, 10.0)
"""The largest magnitudes of the elements of such a step."""

CONFINES = (0.01, 0.1, 1.0, 10.0)
"""The largest magnitudes of parameters that are clipped."""

LEAST_SIZE = 1e-3
"""The least root mean square of a parameter that steps are relative to, in Adafactor."""

Change = Callable[[Any, Any], Any]
"""Returns what becomes of a step, from the step and the parameter."""


def _to_the_norm(step: Any, param: Any) -> Any:
    """Return the ratio of LARS and LAMB, 1 where a norm is 0."""
    size, own = norm(param), norm(step)
    return np.where((size > 0) & (own > 0), size / own, 1.0)


SCALES: tuple[tuple[str, Change], ...] = (
    ("the norm of the parameter over its own", _to_the_norm),
    ("the root mean square of the parameter", lambda step, param: rms(param)),
    (
        f"the root mean square of the parameter, at least {LEAST_SIZE:g}",
        lambda step, param: np.maximum(rms(param), LEAST_SIZE),
    ),
)
"""What whole steps may be multiplied by."""

SIZES = ({"finding": "limited_steps", "rms": LARGEST}, rms), ({"finding": "limited_norms", "norm": LARGEST}, norm)
"""What of whole steps may be limited, as it is recorded."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be done to sizes; wrappers make no steps."""
    if not subject.has_learning_rate:
        return
    for limit in LIMITS:
        clipped = Alteration(update=partial(_changed, partial(_clipping, limit)))
        yield Mistake(run={"finding": "clipped_steps", "limits": f"±{limit:g}"}, alteration=clipped)
    for limit in CONFINES:
        confined = Alteration(update=partial(_confined, limit))
        yield Mistake(run={"finding": "confined", "limits": f"±{limit:g}"}, alteration=confined)
    for run, size in SIZES:
        limited = Alteration(update=partial(_changed, partial(_limiting, size)), by_place=True)
        yield Mistake(run=run, alteration=limited, breaks=BROKEN)
    for guard in NORM_GUARDS:
        run = {"finding": "normalized", "what": "each step, before the learning rate,"}
        normalized = Alteration(update=partial(_changed, partial(_dividing, guard)), by_place=True)
        yield Mistake(run=run, alteration=normalized, breaks=BROKEN)
    for factor, scale in SCALES:
        scaled = Alteration(update=partial(_changed, partial(_times, scale)), by_place=True)
        yield Mistake(run={"finding": "scaled_steps", "factor": factor}, alteration=scaled, breaks=BROKEN)
        if strengths(subject):  # the decay as well
            rated_by = Alteration(update=partial(_rated_by, scale), by_place=True)
            yield Mistake(run={"finding": "scheduled", "factor": factor}, alteration=rated_by, breaks=BROKEN)


def _clipping(limit: float, step: Any, param: Any) -> Any:
    return np.minimum(np.maximum(step, -limit), limit)


def _limiting(size: Callable[[Any], Any], step: Any, param: Any) -> Any:
    return step * (LARGEST / np.maximum(size(step), LARGEST))


def _dividing(guard: float, step: Any, param: Any) -> Any:
    return step / (norm(step) + guard)


def _times(scale: Change, step: Any, param: Any) -> Any:
    return step * scale(step, param)


def _changed(change: Change, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Change the step before it is multiplied by the learning rate, but no decay apart from it."""
    after, new = rule.update(param, grad, state, lr, t)
    step = step_of(rule, param, grad, state, 1.0, t)
    return after + lr * (step - change(step, param)), new


def _rated_by(scale: Change, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Multiply the learning rate, and so a decay apart from the step, too."""
    step = step_of(rule, param, grad, state, 1.0, t)
    return rule.update(param, grad, state, lr * scale(step, param), t)


def _confined(limit: float, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Clip the parameter behind each update."""
    after, new = rule.update(param, grad, state, lr, t)
    return np.minimum(np.maximum(after, -limit), limit), new
