"""Where a target first leaves a rule: in which slot of its state, or in the parameter itself, and at which step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import scalar_format
from optimetry.conformance.oracle.expected import with_underflow_room
from optimetry.conformance.targets.protocol import Run, Target
from optimetry.conformance.targets.session import Guard, Session, watched
from optimetry.reference.rule import Rule, State
from optimetry.reference.training import Training

PARAMETER = "parameter"


@dataclass(frozen=True)
class Divergence:
    """The first numbers that a rule's rounding bound does not explain.

    Attributes:
        case: what both were fed.
        step: counted from 1.
        slot: the slot that is off, or ``parameter``; the first of several in the order of the document.
        tensor: whose slot it is, counted from 0.
        element: which of its elements is furthest off.
        given: what the target has there.
        expected: what the rule has there.
        allowed: how far rounding may carry it, the slack included.
        compared: the slots that could be compared, empty where the target offers none.
    """

    case: Case
    step: int
    slot: str
    tensor: int
    element: int
    given: float
    expected: float
    allowed: float
    compared: tuple[str, ...]


def first_divergence(target: Target, case: Case, rule: Rule, guard: Guard) -> Divergence | None:
    """Run a target beside a rule on `Bounded` numbers, and stop where they part; None where they do not.

    In one step slots come before the parameter, which follows from them.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    form = with_underflow_room(case.form)
    scalars = scalar_format(form)

    def lift(number: float) -> Bounded:
        held = Bounded.scalar(number, scalars)
        return Bounded(held.value.astype(form.wide), held.bound.astype(form.wide), scalars)

    training = Training(rule.lifted(lambda _, number: lift(number)), [Bounded.exact(x, form) for x in case.parameters])
    with watched(guard):
        session = Session(target, case)
        for step, (grads, rate) in enumerate(case.steps):
            after = session.step(grads, rate)
            oracle = training.step([None if x is None else Bounded.exact(x, form) for x in grads], lift(rate))
            offered = dict(_offered(session.run, training.states))
            pairs = [(slot, i, x, training.states[i][slot]) for slot, arrays in offered.items() for i, x in arrays]
            pairs += [(PARAMETER, i, x, oracle[i]) for i, x in enumerate(after)]
            for slot, tensor, given, has in pairs:
                element = _furthest(given, has)
                if element is not None:
                    arrays = (np.asarray(given), has.value, has.bound)
                    value, wanted, bound = (float(x.reshape(-1)[element].astype(np.float64)) for x in arrays)
                    return Divergence(
                        case, step + 1, slot, tensor, element, value, wanted, SLACK * bound, tuple(offered)
                    )
    return None


def _offered(run: Run, states: list[State]) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    """The slots of the rule that the target shows in the rule's shape, with the numbers of their tensors."""
    state = getattr(run, "state", None)
    shown = state() if callable(state) else {}
    for slot in states[0] if states else ():
        arrays = shown.get(slot, [])
        if [np.shape(x) for x in arrays] == [each[slot].shape for each in states]:
            yield slot, list(enumerate(arrays))


def _furthest(given: Any, has: Bounded) -> int | None:
    """The element that is furthest outside the slack, None where none is."""
    with np.errstate(all="ignore"):
        distance = np.abs(np.asarray(given).astype(has.value.dtype) - has.value)
        known = np.isfinite(has.value) & np.isfinite(has.bound)
        share = np.where(distance == 0, 0.0, (distance / has.bound).astype(np.float64))
    share = np.where(known, np.nan_to_num(share, nan=np.inf), 0.0).reshape(-1)
    return int(np.argmax(share)) if share.size and share.max() > SLACK else None
