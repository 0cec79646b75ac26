"""Makes the cases that laws compare with a case: other arrays, other steps, other hyperparameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import Trial
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_of
from optimetry.reference.errors import OptimetryError


def largest(case: Case) -> Case:
    """Keep the largest parameter of a case, and the steps in which it has a gradient."""
    alone = case.only([int(np.argmax([param.size for param in case.parameters]))])
    kept = [step for step, grads in enumerate(alone.grads) if grads[0] is not None]
    return alone.at_steps(kept)


def complete(case: Case) -> Case:
    """Keep the steps of a case in which every parameter has a gradient."""
    return case.at_steps([step for step, grads in enumerate(case.grads) if all(grad is not None for grad in grads)])


LONG_GAP = 17
"""For how many steps a parameter may be without a gradient: what is dropped after a while is kept for one step."""


def gapped(trial: Trial) -> Iterator[tuple[Trial, Trial, slice]]:
    """Pair the trial on its largest parameter with one that has no gradient for one step, and then for many.

    The second pair has options such as a momentum on, without which there may be nothing to lose.

    Yields:
        The trial without missing gradients, the one with some, and the steps of these.
    """
    full = trial.on(largest(trial.case))
    if full.case.grads:
        for plain, length in ((full, 1), (switched_on(full), LONG_GAP)):
            holed, gap = with_gap(plain.case, length)
            yield plain, plain.on(holed), gap


def with_gap(case: Case, length: int = 1) -> tuple[Case, slice]:
    """Insert steps without a gradient before the second, or only, step of a one-parameter case; return where."""
    first = min(len(case.grads) - 1, 1)
    gap = slice(first, first + length)
    holed = case.at_steps(sorted([*range(len(case.grads)), *[first] * length]))
    nothing: tuple[tuple[Array | None, ...], ...] = ((None,),) * length
    return holed.replace(grads=(*holed.grads[:first], *nothing, *holed.grads[gap.stop :])), gap


MANY, FEW_STEPS = 11, 4
"""Parameters and steps of `many`: behind the tenth parameter, an order by name is not that by number."""


def many(case: Case) -> Iterator[Case]:
    """Yield a few steps of many parameters, copies of the smallest of a case, with gradients of their own.

    Every fourth, the first among them, has no gradient in the first half of the steps; where that is not offered, a
    second case gives them to all. Those of the second half are small, so that a largest moment stays what it was.
    Yields nothing where no parameter has elements and a gradient.
    """
    sizes = {i: param.size for i, param in enumerate(case.parameters) if param.size}
    smallest = [i for i in sorted(sizes, key=sizes.__getitem__) if any(grads[i] is not None for grads in case.grads)]
    if not smallest:
        return
    given: list[Any] = [grads[smallest[0]] for grads in case.grads if grads[smallest[0]] is not None]
    short = case.only(smallest[:1] * MANY).at_steps([step % len(case.grads) for step in range(FEW_STEPS)])

    def gradient(step: int, i: int) -> Array:
        grad = given[(step + i) % len(given)]
        factor = (-1) ** i * (1 - i / (MANY + 5)) / (1 if step < FEW_STEPS // 2 else 64)
        return np.asarray(grad * grad.dtype.type(factor))

    for late in (range(0, MANY, 4), ()):
        begun = [i not in late for i in range(MANY)]
        yield short.replace(
            grads=tuple(
                tuple(gradient(step, i) if begun[i] or step >= FEW_STEPS // 2 else None for i in range(MANY))
                for step in range(FEW_STEPS)
            )
        )


def halved(case: Case) -> Case:
    """Cut the one parameter of a case into two halves."""

    def halves(array: Array | None) -> tuple[Array | None, ...]:
        return (None, None) if array is None else tuple(np.array_split(array.reshape(-1), 2))

    parameters = tuple(np.array_split(case.parameters[0].reshape(-1), 2))
    return case.replace(parameters=parameters, grads=tuple(halves(grads[0]) for grads in case.grads))


FEW_POISONED, BIG = 3, 4099
"""The most steps of a poisoned run of a rule with norms, and the elements of a parameter larger than any drawn."""


def big(trial: Trial, steps: int) -> Iterator[Trial]:
    """Yield a trial of few steps on one parameter of `BIG` elements, where shapes do not matter and there is one."""
    case = largest(trial.case).upto(steps)
    if case.elements and not subject_of(case).shaped:
        yield trial.on(case.each(lambda array: np.resize(array, BIG)))


def poisonings(trial: Trial) -> Iterator[tuple[Trial, Trial, int, int]]:
    """Pair the trial on its largest parameter with trials that have NaN or an infinity in one gradient.

    Yields:
        The clean trial, the poisoned one, the poisoned step and the poisoned element.
    """
    case = largest(trial.case)
    yield from _poisonings(trial.on(case if subject_of(case).elementwise else case.upto(FEW_POISONED)))


def big_poisonings(trial: Trial) -> Iterator[tuple[Trial, Trial, int, int]]:
    """Do the same with NaN in a parameter of `BIG` elements."""
    for large in big(trial, 2):
        yield from islice(_poisonings(large), 1)


def _poisonings(clean: Trial) -> Iterator[tuple[Trial, Trial, int, int]]:
    step, element = poisoned_place(clean.case)
    for case in poisoned(clean.case):
        yield clean, clean.on(case), step, element


def poisoned(case: Case) -> Iterator[Case]:
    """Yield the case with NaN or an infinity in one element of each gradient of one step."""
    step, element = poisoned_place(case)
    for value in (np.nan, np.inf, -np.inf) if case.size and case.grads else ():
        changed = case.mapped(grad=np.copy)
        for grad in changed.grads[step]:
            if grad is not None and element < grad.size:
                grad.flat[element] = value
        yield changed


def poisoned_place(case: Case) -> tuple[int, int]:
    """Return the step and the element of the largest parameter that `poisoned` changes."""
    return len(case.grads) // 2, max((param.size for param in case.parameters), default=0) // 2


def with_options(trial: Trial, changes: Mapping[str, Any]) -> Trial:
    """Return a trial with changed hyperparameters: all, or else as many as the subject and the target accept."""
    hyper = trial.case.hyper
    for left_out in (None, *changes):
        other = _accepted(trial, {**hyper, **{name: x for name, x in changes.items() if name != left_out}})
        if other is not None:
            return other
    for name, value in changes.items():
        trial = _accepted(trial, {**trial.case.hyper, name: value}) or trial
    return trial


def _accepted(trial: Trial, hyper: Mapping[str, Any]) -> Trial | None:
    """Return a trial with these hyperparameters, None where the subject or the target refuses them."""
    try:
        subject_of(trial.case).of(hyper)
    except OptimetryError:
        return None
    other = trial.on(trial.case.replace(hyper=hyper))
    return other if other.offered else None


def switched_on(trial: Trial, *, flags: bool = False) -> Trial:
    """Return a trial that switches on hyperparameters at 0, such as a decay: only then can a defect in them show.

    With ``flags``, it switches on those, too, of which the case itself is tried as well.
    """
    hyperparameters = subject_of(trial.case).hyperparameters()
    kinds = (float, bool) if flags else (float,)
    effective = {
        x.name: next((corner for corner in x.corners if corner), 0.0) for x in hyperparameters if x.kind in kinds
    }
    return with_options(trial, {name: x for name, x in effective.items() if x and not trial.case.hyper[name]})


def other_options(case: Case) -> dict[str, Any]:
    """Return the next corner of every number, and the other position of every flag, for another run or group."""
    others = {}
    for option in subject_of(case).hyperparameters():
        if len(option.corners) > 1:
            value = case.hyper[option.name]
            at = option.corners.index(value) if value in option.corners else -1
            others[option.name] = option.corners[(at + 1) % len(option.corners)]
    return others
