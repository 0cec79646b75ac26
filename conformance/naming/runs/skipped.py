"""Lists what may be left out of a run: whole steps, some elements of a tensor, some tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.laws.documented import nonfinite_gradients_act
from optimetry.conformance.laws.law import LawCheck
from optimetry.conformance.laws.universal import (
    parameters_are_independent,
    permutation,
    reshaping,
    resuming,
    splitting,
)
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.edits.usual import CLIP_NORMS
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.scaled import BROKEN
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.rule import Rule, State

PERIODS = (2, 3, 4, 5, 8, 10)
WIDTHS = (2, 4, 8, 16, 32, 64)
BLOCKS = (16, 32, 64, 128)
LENGTHS = (0, 1, 2, 4, 8, 16)
SIZES = (1, 2, 3, 6, 12, 24, 40, 72, 136)
"""Tensors of which every two lists of elements leave out different ones."""

SHORT = 3
"""The most steps that are run with them."""
TENSORS = (1, 2, 3, 4, 8, 16)

Places = Callable[[int], Any]
"""Which elements are left out of a tensor of so many, as a mask."""

Mask = Callable[[Any], Any]
"""Which elements are left out of a gradient, or of what a wrapper is fed."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be left out."""
    if subject.has_learning_rate:
        yield from _steps()
        yield from _of_large_gradients()
        yield from _tensors()
        run = {"finding": "left_out_elements", "which": "all but as many elements as the first axis is long"}
        breaks = (permutation, reshaping, splitting, parameters_are_independent)
        yield Mistake(run=run, alteration=_left_out(_behind_first_axis), breaks=breaks)
        without = "the elements whose gradient is 0"
        for which, moves in ((without, False), (f"{without}, though not in the state", True)):
            alteration = _left_out(lambda grad: grad == 0, moves=moves, by_place=False)
            yield Mistake(run={"finding": "left_out_elements", "which": which}, alteration=alteration)


def of_elements(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield the elements of tensors that may be left out; cases of other sizes tell them apart."""
    for which, places in places_left_out():
        run = {"finding": "left_out_elements", "which": which}
        for moves in (False, True) if subject.has_learning_rate and not subject.elementwise else (False,):
            breaks = (permutation, splitting, parameters_are_independent)
            left_out = _left_out(partial(_at, places), moves=moves)
            yield Mistake(run=run, alteration=left_out, breaks=breaks, shown_by=of_all_sizes)


def of_all_sizes(case: Case) -> Iterator[Case]:
    """Yield a short case with the same numbers in tensors of `SIZES`."""
    rows = [[grad for grad in row if grad is not None and grad.size] for row in case.grads]
    steps = [step for step, row in enumerate(rows) if row][:SHORT]
    shapes = [fitting(subject_of(case), (size,)) for size in SIZES]
    if steps:
        short = case.at_steps(steps)
        yield short.replace(
            parameters=tuple(np.resize(flat(case.parameters), shape) for shape in shapes),
            grads=tuple(tuple(np.resize(flat(rows[step]), shape) for shape in shapes) for step in steps),
        )


def _steps() -> Iterator[Mistake]:
    """Yield updates that are skipped: of the parameters and the state, or of the parameters alone."""
    yield _skipping("every update", (nonfinite_gradients_act,), fed=_without_steps(lambda step: True))
    for period in PERIODS:
        every = f"every {_ordinal(period)} update"
        for phase in (0, 1):
            fed = _without_steps(lambda step, n=period, p=phase: step % n == p % n)  # type: ignore[misc]
            yield _skipping(every if phase == 0 else f"{every}, the first of them", fed=fed)
        if period > 2:
            yield _skipping(
                f"all but {every}",
                fed=_without_steps(lambda step, n=period: step % n != 0),  # type: ignore[misc]
            )
    yield _skipping("the first update", fed=_without_steps(lambda step: step == 1))
    for idle in (Alteration(update=_idle, by_place=True), Alteration(step=_all_idle, by_place=True)):
        yield _skipping("the first update of the parameters, though not of the state", alteration=idle)
    unused = Alteration(update=_unused)
    yield _skipping("the first update, though it counts", (nonfinite_gradients_act,), alteration=unused)


def _of_large_gradients() -> Iterator[Mistake]:
    """Yield updates that are skipped because the norm of a gradient, or of all of a step, is large or not a number."""
    for limit in CLIP_NORMS:
        for whose, joint, breaks in (
            ("whose gradient has", False, BROKEN),
            ("of a step whose gradients together have", True, (*BROKEN, parameters_are_independent)),
        ):
            for of_nan in (True, False):
                fed = partial(_without_large, limit, joint, of_nan)
                which = f"every update {whose} a norm above {limit:g}"
                yield _skipping(which, (*breaks, nonfinite_gradients_act), fed=fed)


def _without_large(limit: float, joint: bool, of_nan: bool, case: Case) -> Case:
    """Leave out the gradients with a norm above a limit, or all of a step; perhaps those with a norm that is NaN."""

    def kept(*grads: Any) -> bool:
        norm = np.sqrt(sum(np.sum(np.square(grad, dtype=np.float64)) for grad in grads if grad is not None))
        return bool(norm <= limit) if of_nan else not norm > limit

    def row(grads: Any) -> Any:
        if joint:
            return grads if kept(*grads) else (None,) * len(grads)
        return tuple(grad if grad is not None and kept(grad) else None for grad in grads)

    with np.errstate(all="ignore"):
        return case.replace(grads=tuple(map(row, case.grads)))


def _skipping(which: str, breaks: tuple[LawCheck, ...] = (), **how: Any) -> Mistake:
    return Mistake(run={"finding": "skipped_steps", "which": which}, breaks=(resuming, *breaks), **how)


def _without_steps(skipped: Callable[[int], bool]) -> Callable[[Case], Case]:
    """Leave out the gradients of some steps, which are counted from 1."""

    def fed(case: Case) -> Case:
        nothing = (None,) * len(case.parameters)
        return case.replace(grads=tuple(nothing if skipped(i) else row for i, row in enumerate(case.grads, 1)))

    return fed


def _tensors() -> Iterator[Mistake]:
    """Yield tensors that are never updated."""
    yield _without_tensors("the last of several tensors", lambda i, count: i == count - 1 > 0)
    yield _without_tensors("the last tensor", lambda i, count: i == count - 1)
    yield _without_tensors("the first of several tensors", lambda i, count: i == 0 < count - 1)
    for many in TENSORS:
        behind = f"every tensor behind the {_ordinal(many)}"
        yield _without_tensors(behind, lambda i, count, n=many: i >= n)  # type: ignore[misc]


def _without_tensors(which: str, skipped: Callable[[int, int], bool]) -> Mistake:
    def fed(case: Case) -> Case:
        count = len(case.parameters)
        out = [skipped(i, count) for i in range(count)]
        rows = (tuple(None if gone else grad for gone, grad in zip(out, row, strict=True)) for row in case.grads)
        return case.replace(grads=tuple(rows))

    run = {"finding": "left_out_tensors", "which": which}
    return Mistake(run=run, fed=fed, breaks=(parameters_are_independent, splitting))


def places_left_out() -> Iterator[tuple[str, Places]]:
    """Yield the elements that a loop over a tensor may leave out, in words and as a mask."""
    for width in WIDTHS:
        tail = f"the elements behind the last multiple of {width}"
        yield tail, lambda size, n=width: np.arange(size) >= size - size % n  # type: ignore[misc]
        longer = f"{tail}, in tensors of at least {width}"
        yield longer, lambda size, n=width: (np.arange(size) >= size - size % n) & (size >= n)  # type: ignore[misc]
        blocks = f"the elements up to the last multiple of {width}"
        yield blocks, lambda size, n=width: np.arange(size) < size - size % n  # type: ignore[misc]
    for many in BLOCKS:
        yield f"the elements behind the {_ordinal(many)}", lambda size, n=many: np.arange(size) >= n  # type: ignore[misc]
    ends: dict[str, Places] = {
        "the first element": lambda size: np.arange(size) == 0,
        "the last element": lambda size: np.arange(size) == size - 1,
        "the first and the last element": lambda size: (np.arange(size) == 0) | (np.arange(size) == size - 1),
    }
    for which, places in ends.items():
        for length in LENGTHS:
            where = f"tensors with more than {length} element{'s' * (length > 1)}" if length else "every tensor"
            yield f"{which} of {where}", lambda size, n=length, at=places: at(size) & (size > n)  # type: ignore[misc]


def _ordinal(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, 'th') }"


def _left_out(out: Mask, *, moves: bool = False, by_place: bool = True) -> Alteration:
    """Leave elements as they were; ``moves`` says that their state moves though they do not."""

    def update(rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        after, new = rule.update(param, grad, state, lr, t)
        mask = out(grad)
        if not moves:  # in every slot that has elements
            kept = {n: x for n, x in new.items() if getattr(x, "shape", None) == param.shape}
            new = State(**{**new, **{n: np.where(mask, state[n], x) for n, x in kept.items()}})
        return np.where(mask, param, after), new

    def feed(wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
        returned, state = wrapper.feed(fed, parameters, state)
        return [np.where(out(x), x, new) for x, new in zip(fed, returned, strict=True)], state

    return Alteration(update=update, feed=feed, by_place=by_place)


def _at(places: Places, grad: Any) -> Any:
    return places(int(np.prod(grad.shape))).reshape(grad.shape)


def _behind_first_axis(grad: Any) -> Any:
    """Take the length of the first axis for the number of elements."""
    return _at(np.arange, grad) >= (grad.shape[0] if grad.shape else 1)


def _unused(rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Make nothing of the gradient of the first update; the second is counted as the second."""
    return (param, state) if t == 1 else rule.update(param, grad, state, lr, t)


def _idle(rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Leave a parameter as it is in its first update, though not its state."""
    after, new = rule.update(param, grad, state, lr, t)
    return (param if t == 1 else after), new


def _all_idle(training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
    """Take the parameters back while none has had two updates."""
    before = list(training.parameters)
    plain(grads, lr)
    if max(training.updates, default=0) <= 1:
        training.parameters = before
    return list(training.parameters)
