"""Makes the cases that laws compare with a case: other arrays, other steps, other hyperparameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_of
from optimetry.reference.errors import OptimetryError


def each(case: Case, change: Callable[[Array], Array]) -> Case:
    """Change every parameter and gradient of a case alike."""
    return rescaled(case, change, change)


def rescaled(case: Case, param: Callable[[Array], Array], grad: Callable[[Array], Array]) -> Case:
    """Change every parameter of a case by one function, and every gradient by another."""
    # A ufunc of a 0-d array gives a scalar, which no target must be handed.
    return case.replace(
        parameters=tuple(np.asarray(param(array)) for array in case.parameters),
        grads=tuple(
            tuple(None if array is None else np.asarray(grad(array)) for array in grads) for grads in case.grads
        ),
    )


def largest(case: Case) -> Case:
    """Keep the largest parameter of a case, and the steps in which it has a gradient."""
    alone = case.only([int(np.argmax([param.size for param in case.parameters]))])
    kept = [step for step, grads in enumerate(alone.grads) if grads[0] is not None]
    return at_steps(alone, kept)


def at_steps(case: Case, steps: list[int]) -> Case:
    """Keep these steps of a case, in this order."""
    return case.replace(
        grads=tuple(case.grads[step] for step in steps),
        learning_rates=tuple(case.learning_rates[step] for step in steps),
    )


def complete(case: Case) -> Case:
    """Keep the steps of a case in which every parameter has a gradient."""
    return at_steps(case, [step for step, grads in enumerate(case.grads) if all(grad is not None for grad in grads)])


def with_gap(case: Case) -> tuple[Case, int]:
    """Insert a step without a gradient before the second, or only, step of a one-parameter case; return where."""
    gap = min(len(case.grads) - 1, 1)
    holed = at_steps(case, sorted([*range(len(case.grads)), gap]))
    nothing: tuple[Array | None, ...] = (None,)
    return holed.replace(grads=(*holed.grads[:gap], nothing, *holed.grads[gap + 1 :])), gap


def halved(case: Case) -> Case:
    """Cut the one parameter of a case into two halves."""

    def halves(array: Array | None) -> tuple[Array | None, ...]:
        return (None, None) if array is None else tuple(np.array_split(array.reshape(-1), 2))

    parameters = tuple(np.array_split(case.parameters[0].reshape(-1), 2))
    return case.replace(parameters=parameters, grads=tuple(halves(grads[0]) for grads in case.grads))


def poisonings(trial: Trial) -> Iterator[tuple[Trial, Trial, int, int]]:
    """Pair the trial on its largest parameter with trials that have NaN or an infinity in one gradient.

    Yields:
        The clean trial, the poisoned one, the poisoned step and the poisoned element.
    """
    clean = trial.on(largest(trial.case))
    step, element = poisoned_place(clean.case)
    for case in poisoned(clean.case):
        yield clean, clean.on(case), step, element


def poisoned(case: Case) -> Iterator[Case]:
    """Yield the case with NaN or an infinity in one element of each gradient of one step."""
    step, element = poisoned_place(case)
    for value in (np.nan, np.inf, -np.inf) if case.size and case.grads else ():
        grads = [[None if grad is None else grad.copy() for grad in row] for row in case.grads]
        for grad in grads[step]:
            if grad is not None and element < grad.size:
                grad.flat[element] = value
        yield case.replace(grads=tuple(map(tuple, grads)))


def poisoned_place(case: Case) -> tuple[int, int]:
    """Return the step and the element of the largest parameter that `poisoned` changes."""
    return len(case.grads) // 2, max((param.size for param in case.parameters), default=0) // 2


def with_options(trial: Trial, changes: Mapping[str, Any]) -> Trial:
    """Return a trial with changed hyperparameters: all, or else as many as the subject and the target accept."""
    case = trial.case
    for hyper in _choices(case.hyper, changes):
        try:
            subject_of(case).of(hyper)
        except OptimetryError:
            continue
        other = trial.on(case.replace(hyper=hyper))
        if other.offered:
            return other
    return trial


def switched_on(trial: Trial) -> Trial:
    """Return a trial that switches on hyperparameters at 0, such as a decay: only then can a defect in them show."""
    numbers = [x for x in subject_of(trial.case).hyperparameters() if x.kind is float]
    effective = {x.name: next((corner for corner in x.corners if corner), 0.0) for x in numbers}
    return with_options(trial, {name: x for name, x in effective.items() if x and not trial.case.hyper[name]})


def other_numbers(case: Case) -> dict[str, Any]:
    """Return the next corner of every number, as hyperparameters of another run or group."""
    numbers = [x for x in subject_of(case).hyperparameters() if x.kind is float and len(x.corners) > 1]
    others = {}
    for number in numbers:
        at = number.corners.index(case.hyper[number.name]) if case.hyper[number.name] in number.corners else -1
        others[number.name] = number.corners[(at + 1) % len(number.corners)]
    return others


def _choices(hyper: Mapping[str, Any], changes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield hyperparameters with all changes, with all but one, and with each alone."""
    yield {**hyper, **changes}
    yield from ({**hyper, **{name: x for name, x in changes.items() if name != left_out}} for left_out in changes)
    yield from ({**hyper, name: value} for name, value in changes.items())
