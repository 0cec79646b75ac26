"""Lists what may be done to the steps of a rule: pulled back every few steps, held, or extrapolated.

All stand around other optimizers in the field: as Lookahead, as cautious and as optimistic optimizers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, remembering, step_of
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.scaled import BROKEN
from optimetry.conformance.numerics.arithmetic import incremented
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

PERIODS = (2, 3, 4, 5, 6, 10)
SHARES = (0.5, 0.8)
"""After how many steps parameters are pulled back, and which share of their way is left to them."""

LEAST = 1e-3
"""The least share of elements that a cautious step is divided by."""


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
    step = step_of(rule, param, grad, state, lr, t)
    agrees = step * grad > 0
    share = np.maximum(np.mean(np.where(agrees, step * 0.0 + 1.0, 0.0)), LEAST) if divides else 1.0
    return after + (step - np.where(agrees, step / share, 0.0)), new


def _extrapolated(
    rated: bool, at_first: bool, before: Any, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State, Any]:
    """Step twice, and take back the step before, which was multiplied by its own learning rate or is by this one.

    The first step is doubled ``at_first``, or it is taken for the step before it as well.
    """
    after, new = rule.update(param, grad, state, lr, t)
    step = step_of(rule, param, grad, state, lr if rated else 1.0, t)
    if t > 1 or at_first:
        after = after + (before - step) * (1.0 if rated else lr)
    return after, new, step
