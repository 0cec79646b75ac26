"""Lists what may be done to steps of a rule, or behind them: pulled back, held, extrapolated, clipped or scaled.

All stand around other optimizers in the field: as Lookahead, as cautious and optimistic optimizers, as the clip and the
relative steps of Adafactor, and as the ratio of LARS and LAMB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, remembering
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.decay import strengths
from optimetry.conformance.naming.runs.scaled import BROKEN
from optimetry.conformance.numerics.arithmetic import incremented
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.norms import norm, rms
from optimetry.reference.rule import Rule, State

PERIODS = (2, 3, 4, 5, 6, 10)
SHARES = (0.5, 0.8)
"""After how many steps parameters are pulled back, and which share of their way is left to them."""

LEAST = 1e-3
"""The least share of elements that a cautious step is divided by."""

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
    """Yield what may be done to steps; wrappers make none."""
    if not subject.has_learning_rate:
        return
    for period in PERIODS:
        for share in SHARES:
            run = {"finding": "lookahead", "share": share, "period": period}
            for own in (False, True):
                alteration = Alteration(step=partial(_pulled_back, period, share, own))
                breaks = (resuming,) if own else (resuming, missing_gradient)  # all are pulled back together
                yield Mistake(run=run, alteration=alteration, breaks=breaks)
    for divides in (True, False):
        run = {"finding": "cautious", "how": ", divided by the share of these elements" if divides else ""}
        # The place of an element matters only where the other elements count.
        alteration = Alteration(update=partial(_cautious, divides), by_place=divides)
        yield Mistake(run=run, alteration=alteration, breaks=BROKEN if divides else ())
    for rated, at_first in product((True, False), repeat=2):
        begun = remembering(partial(_extrapolated, rated, at_first))
        yield Mistake(run={"finding": "extrapolated"}, alteration=begun)
    for limit in LIMITS:
        clipped = Alteration(update=partial(_changed, partial(_clipping, limit)))
        yield Mistake(run={"finding": "clipped_steps", "limits": f"±{limit:g}"}, alteration=clipped)
    for limit in CONFINES:
        confined = Alteration(update=partial(_confined, limit))
        yield Mistake(run={"finding": "confined", "limits": f"±{limit:g}"}, alteration=confined)
    for run, size in SIZES:
        limited = Alteration(update=partial(_changed, partial(_limiting, size)), by_place=True)
        yield Mistake(run=run, alteration=limited, breaks=BROKEN)
    for factor, scale in SCALES:
        scaled = Alteration(update=partial(_changed, partial(_times, scale)), by_place=True)
        yield Mistake(run={"finding": "scaled_steps", "factor": factor}, alteration=scaled, breaks=BROKEN)
        if strengths(subject):  # the decay as well
            rated_by = Alteration(update=partial(_rated_by, scale), by_place=True)
            yield Mistake(run={"finding": "scheduled", "factor": factor}, alteration=rated_by, breaks=BROKEN)


def _pulled_back(
    period: int, share: float, own: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Step, then move the parameters whose time has come to a share of the way from where they last were moved to.

    Each parameter counts its ``own`` updates to the period, or all count every step.
    """
    slow = training.memory.setdefault("slow", list(training.parameters))
    training.memory["steps"] = training.memory.get("steps", 0) + 1
    plain(grads, lr)
    for i, param in enumerate(training.parameters):
        steps = training.updates[i] if own else training.memory["steps"]
        if steps and steps % period == 0 and not (own and grads[i] is None):
            slow[i] = training.parameters[i] = incremented(slow[i], share, param)
    return list(training.parameters)


def _cautious(divides: bool, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Move only the elements whose step goes against their gradient, perhaps divided by the share of such elements.

    The others are not held against a decay that is apart from the step; their state moves on.
    """
    after, new = rule.update(param, grad, state, lr, t)
    step = -rule.update(param * 0.0, grad, state, lr, t)[0]
    agrees = step * grad > 0
    share = np.maximum(np.mean(np.where(agrees, step * 0.0 + 1.0, 0.0)), LEAST) if divides else 1.0
    return after + (step - np.where(agrees, step / share, 0.0)), new


def _clipping(limit: float, step: Any, param: Any) -> Any:
    return np.minimum(np.maximum(step, -limit), limit)


def _limiting(size: Callable[[Any], Any], step: Any, param: Any) -> Any:
    return step * (LARGEST / np.maximum(size(step), LARGEST))


def _times(scale: Change, step: Any, param: Any) -> Any:
    return step * scale(step, param)


def _changed(change: Change, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Change the step before it is multiplied by the learning rate, but no decay apart from it."""
    after, new = rule.update(param, grad, state, lr, t)
    step = -rule.update(param * 0.0, grad, state, 1.0, t)[0]
    return after + lr * (step - change(step, param)), new


def _rated_by(scale: Change, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Multiply the learning rate, and so a decay apart from the step, too."""
    step = -rule.update(param * 0.0, grad, state, 1.0, t)[0]
    return rule.update(param, grad, state, lr * scale(step, param), t)


def _confined(limit: float, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Clip the parameter behind each update."""
    after, new = rule.update(param, grad, state, lr, t)
    return np.minimum(np.maximum(after, -limit), limit), new


def _extrapolated(
    rated: bool, at_first: bool, before: Any, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State, Any]:
    """Step twice, and take back the step before, which was multiplied by its own learning rate or is by this one.

    The first step is doubled ``at_first``, or it is taken for the step before it as well.
    """
    after, new = rule.update(param, grad, state, lr, t)
    step = -rule.update(param * 0.0, grad, state, lr if rated else 1.0, t)[0]
    if t > 1 or at_first:
        after = after + (before - step) * (1.0 if rated else lr)
    return after, new, step
