"""Lists what may come late: gradients, learning rates and results of earlier steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from optimetry.conformance.cases.case import Case, Grads
from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.mistakes import Mistake, with_rates
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.numerics.formats import BOUND
from optimetry.conformance.subjects.subject import Subject

STEPS = (1, 2, 3)
"""How many steps late."""

LATE = (missing_gradient, resuming)
"""The checks that late inputs break: they act in steps without a gradient, and are not part of a saved state."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may come late."""
    for steps in STEPS:
        fillings = (_zeros, _first) if not subject.has_learning_rate else (_nothing, _zeros, _first)
        for filling in fillings:
            yield _late("the gradients", steps, _with_rows(steps, filling))
        if subject.has_learning_rate:
            yield _late("the gradients", steps, _with_own(steps, zeros=False))
            yield _late("the gradients", steps, _with_own(steps, zeros=True))
            if steps > 1:  # one step late is a mistake of adapters
                yield _late("the learning rate", steps, _with_rates(steps))
            run = {"finding": "returned_late", "steps": steps}
            yield Mistake(run=run, returned=_returned(steps), breaks=LATE)


def _late(delayed: str, steps: int, fed: Callable[[Case], Case]) -> Mistake:
    return Mistake(run={"finding": "late", "what": [delayed], "steps": steps}, fed=fed, breaks=LATE)


def _nothing(case: Case) -> Grads:
    return (None,) * len(case.parameters)


def _zeros(case: Case) -> Grads:
    return tuple(map(np.zeros_like, case.parameters))


def _first(case: Case) -> Grads:
    return case.grads[0] if case.grads else ()


def _with_rows(steps: int, filling: Callable[[Case], Grads]) -> Callable[[Case], Case]:
    """Give each step the gradients of an earlier one, and something else to the first ones."""

    def fed(case: Case) -> Case:
        rows = ((filling(case),) * steps + case.grads)[: len(case.grads)]
        return case.replace(grads=rows)

    return fed


def _with_own(steps: int, *, zeros: bool) -> Callable[[Case], Case]:
    """Give each parameter, where it has a gradient, one that it has had before; zeros or nothing where it had none."""

    def fed(case: Case) -> Case:
        rows = []
        had: list[list[np.ndarray]] = [[] for _ in case.parameters]
        for row in case.grads:
            late = []
            for own, grad, param in zip(had, row, case.parameters, strict=True):
                if grad is not None:
                    own.append(grad)
                early = np.zeros_like(param) if zeros else None
                late.append(None if grad is None else own[-1 - steps] if len(own) > steps else early)
            rows.append(tuple(late))
        return case.replace(grads=tuple(rows))

    return fed


def _with_rates(steps: int) -> Callable[[Case], Case]:
    return with_rates(lambda rates: (rates[:1] * steps + rates)[: len(rates)])


def _returned(steps: int) -> Callable[[Case, Expected], Expected]:
    """Return the parameters of an earlier step, at first those of the start."""

    def late(case: Case, value: Expected) -> Expected:
        start = np.repeat(flat(case.parameters).astype(value.value.dtype)[None], steps, axis=0)
        count = len(value.value)
        values = np.concatenate([start, value.value])[:count]
        return Expected(values, np.concatenate([np.zeros(start.shape, BOUND), value.bound])[:count], value.start)

    return late
