"""Finds the first divergence of a target from a formula: the step, and the slot of state or the parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.agreement import SLACK, Expected, shares_of
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.oracle.expected import BoundedNumbers, with_underflow_room
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, Session, watched
from optimetry.reference.declaration import Declared

PARAMETER = "parameter"


@dataclass(frozen=True)
class Divergence:
    """The first numbers that a formula's rounding bound does not explain.

    Attributes:
        case: what both were fed.
        step: counted from 1.
        slot: the slot that is off, or ``parameter``; the first of several in the order of the document.
        tensor: the tensor whose slot it is, counted from 0.
        element: which of its elements is furthest off.
        given: what the target returned there.
        expected: what the formula gives there.
        allowed: what rounding explains, the slack included.
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


def first_divergence(target: Target, case: Case, computed: Declared, guard: Guard) -> Divergence | None:
    """Run a target beside a formula on `Bounded` numbers, and stop at the first divergence; None if there is none.

    In one step slots come before the parameter, which follows from them.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    with default_environment():
        evaluated = list(_evaluated(case, computed))
    with watched(guard):
        session = Session(target, case)
        for step, (fed, (oracle, states)) in enumerate(zip(case.steps, evaluated, strict=True), 1):
            after = session.step(*fed)
            offered = dict(_offered(session.run, states))
            pairs = [(slot, i, x, states[i][slot]) for slot, arrays in offered.items() for i, x in enumerate(arrays)]
            pairs += [(PARAMETER, i, x, oracle[i]) for i, x in enumerate(after)]
            for slot, tensor, result, must in pairs:
                element = _furthest(result, must)
                if element is not None:
                    arrays = (np.asarray(result), must.value, must.bound)
                    value, wanted, bound = (float(x.reshape(-1)[element].astype(np.float64)) for x in arrays)
                    allowed = SLACK * bound
                    return Divergence(case, step, slot, tensor, element, value, wanted, allowed, tuple(offered))
    return None


def _evaluated(case: Case, computed: Declared) -> Iterator[tuple[Sequence[Any], Sequence[Mapping[str, Any]]]]:
    """Yield the formula's results after each step, and the slots of each parameter; a wrapper has none."""
    subject = subject_of(case)
    numbers = BoundedNumbers(subject, with_underflow_room(case.form))
    if isinstance(subject, RuleSubject):
        yield from subject.states(case, numbers, computed)
    else:
        for arrays in subject.trajectory(case, numbers, computed):
            yield arrays, [{}] * len(arrays)


def _offered(run: Any, states: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the slots of the rule that the target offers in the rule's shape, with one array for each parameter.

    A slot in which the rule still has a plain number, as Adan's change after the first step, has no shape.
    """
    state = getattr(run, "state", None)
    shown = state() if callable(state) and states and states[0] else {}
    for slot in states[0] if states else ():
        arrays = shown.get(slot, [])
        if [np.shape(x) for x in arrays] == [getattr(each[slot], "shape", None) for each in states]:
            yield slot, list(arrays)


def _furthest(result: Any, must: Bounded) -> int | None:
    """Return the element that is furthest outside the slack, None where none is."""
    share = shares_of(np.asarray(result), Expected(must.value, must.bound, start=None)).reshape(-1)
    return int(np.argmax(share)) if share.size and share.max() > SLACK else None
