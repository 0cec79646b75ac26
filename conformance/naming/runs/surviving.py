"""Declares what survives a run: the next one with parameters of the same shapes starts with the state that it left.

The rest of the list is about one run. This is about two: a case of a size that no run has had, run twice. Both in a row
are one run of twice the steps, in which the parameters begin again in the middle, and the state does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.laws.layouts import memory_layout
from optimetry.conformance.laws.universal import repeatable, runs_are_independent
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.subjects.registry import subject_of

STEPS = 4
"""The steps of a run that is repeated."""

FRESH = 211
"""The size of the first case; each further one has one element more, so that no run before it has left a state."""


def mistakes() -> Iterator[Mistake]:
    """Yield the survival of state: with the count of updates, and without."""
    for counts in (True, False):
        yield Mistake(
            run={"finding": "survives"},
            fed=_twice,
            alteration=Alteration(step=partial(_survives, counts)),
            returned=_second_half,
            breaks=(repeatable, runs_are_independent, memory_layout),
        )


def of_fresh_sizes(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield for each case that has numbers a short one with these numbers in one tensor of a new size."""
    for number, case in enumerate(cases):
        rows = [(row, rate) for row, rate in case.steps if any(grad is not None and grad.size for grad in row)]
        taken = [*islice(rows * STEPS, STEPS)]
        if taken:
            shape = fitting(subject_of(case), (FRESH + number,))
            grads = [flat([grad for grad in row if grad is not None]) for row, _ in taken]
            yield case.replace(
                parameters=(np.resize(flat(case.parameters), shape),),
                grads=tuple((np.resize(grad, shape),) for grad in grads),
                learning_rates=tuple(rate for _, rate in taken),
            )


def _twice(case: Case) -> Case:
    """Do every step again behind the last."""
    return case.replace(grads=case.grads * 2, learning_rates=case.learning_rates * 2)


def _second_half(case: Case, value: Expected) -> Expected:
    """Return what the steps give when they are done again."""
    return Expected(value.value[STEPS:], value.bound[STEPS:], value.start)


def _survives(counts: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Begin again with the parameters in the middle of a run, perhaps with the count of updates going on.

    What a wrapper is fed begins again by itself.
    """
    start = training.memory.setdefault("start", list(training.parameters))
    steps = training.memory["steps"] = training.memory.get("steps", 0) + 1
    if steps == STEPS + 1:
        training.parameters = list(start)
        training.updates = training.updates if counts else [0] * len(start)
    return plain(grads, lr)
