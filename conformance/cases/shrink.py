"""Shrinks a failing case: fewer tensors, elements and steps, plainer numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array
from optimetry.reference.declaration import Hyperparameter

BUDGET = 400
"""How many smaller cases are tried."""

FEW = 6
"""In how few steps each is left out alone; of more, only some from the beginning or the end."""


def shrunk(
    case: Case,
    fails: Callable[[Case], bool],
    declared: Sequence[Hyperparameter] = (),
    budget: int = BUDGET,
    *,
    shaped: bool = False,
) -> Case:
    """Return the smallest case found that still fails, the same each time.

    A case with some number other than zero is preferred to a smaller one of zeros alone, which shows little: cases of
    zeros alone are tried last.

    Args:
        case: a failing case.
        fails: whether a case fails; called for smaller cases only.
        declared: the hyperparameters that may become plainer.
        budget: the largest number of calls.
        shaped: whether rows and columns are told apart, so that only whole ones may be left out.
    """
    for zeros_allowed in (False, True):
        progress = True
        while progress and budget > 0:
            progress = False
            for smaller in _smaller(case, declared, shaped):
                if not zeros_allowed and _all_zero(smaller):
                    continue
                budget -= 1
                if fails(smaller):
                    case, progress = smaller, True
                    break
                if budget <= 0:
                    break
    return case


def _all_zero(case: Case) -> bool:
    """Whether every parameter and gradient of a case is zero."""
    return not any(array.any() for array in case.arrays)


def _smaller(case: Case, declared: Sequence[Hyperparameter], shaped: bool) -> Iterator[Case]:
    """Yield simpler cases, the largest cuts first."""
    yield from _fewer_steps(case)
    yield from _fewer_tensors(case)
    yield from _fewer_rows(case) if shaped else _fewer_elements(case)
    yield from _plainer_hyperparameters(case, declared)
    yield from _plainer_numbers(case)


def _fewer_steps(case: Case) -> Iterator[Case]:
    steps = len(case.grads)
    for kept in sorted({1, 2, 3, steps // 2, steps - 1}):
        if 0 < kept < steps:
            yield case.upto(kept)
    if steps > FEW:
        yield case.at_steps(range(steps // 2, steps))
        return
    for left_out in range(steps - 1):
        yield case.at_steps([step for step in range(steps) if step != left_out])


def _fewer_tensors(case: Case) -> Iterator[Case]:
    tensors = range(len(case.parameters))
    if len(tensors) > 1:
        yield from (case.only([i]) for i in tensors)
        yield from (case.only([j for j in tensors if j != i]) for i in tensors)


def _fewer_elements(case: Case) -> Iterator[Case]:
    """Leave out a part of the tensors of one shape together, which may fail for being alike, then of each alone."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for i, param in enumerate(case.parameters):
        alike.setdefault(param.shape, []).append(i)
    for chosen in [*(group for group in alike.values() if len(group) > 1), *([i] for i in range(len(case.parameters)))]:
        param = case.parameters[chosen[0]]
        size = param.size
        if param.shape != (size,):
            yield _elements(case, chosen, slice(None))
        if size > 1:
            yield from (_elements(case, chosen, part) for part in (slice(size // 2), slice(size // 2, None)))
            quarter = max(size // 4, 1)
            yield from (_elements(case, chosen, np.r_[0:k, k + quarter : size]) for k in range(0, size, quarter))


def _fewer_rows(case: Case) -> Iterator[Case]:
    """Leave out a half along each dimension in turn, or one row or column."""
    for i, param in enumerate(case.parameters):
        for axis, length in enumerate(param.shape):
            halves = [np.arange(length // 2), np.arange(length // 2, length)]
            others = [np.delete(np.arange(length), k) for k in range(length)] if length > 2 else []
            for kept in [*halves, *others] if length > 1 else ():
                yield _changed(case, [i], lambda array, axis=axis, kept=kept: np.take(array, kept, axis))  # type: ignore[misc]


def _elements(case: Case, tensors: Collection[int], kept: slice | Array) -> Case:
    return _changed(case, tensors, lambda array: array.reshape(-1)[kept])


def _changed(case: Case, tensors: Collection[int], change: Callable[[Array], Array]) -> Case:
    """Change some parameters and their gradients alike."""

    def cut(i: int, array: Array | None) -> Array | None:
        return array if array is None or i not in tensors else change(array)

    return case.replace(
        parameters=tuple(x for i, param in enumerate(case.parameters) if (x := cut(i, param)) is not None),
        grads=tuple(tuple(cut(i, grad) for i, grad in enumerate(grads)) for grads in case.grads),
    )


def _plainer_hyperparameters(case: Case, hyperparameters: Sequence[Hyperparameter]) -> Iterator[Case]:
    if len(set(case.learning_rates)) > 1:
        yield case.replace(learning_rates=case.learning_rates[:1] * len(case.learning_rates))
    for plain in (1.0, 0.5, 0.1):
        if plain < min(case.learning_rates) or (plain <= 1 and case.learning_rates[0] not in (1.0, 0.5, 0.1)):
            yield case.replace(learning_rates=(plain,) * len(case.learning_rates))
    for declared in hyperparameters:
        value = case.hyper[declared.name]
        plain_values = [x for x in (declared.default, *declared.corners) if x is not None]
        if value not in plain_values:
            yield from (case.replace(hyper={**case.hyper, declared.name: plain}) for plain in plain_values)


def _plainer_numbers(case: Case) -> Iterator[Case]:
    for digits in (0, 1):
        plain = partial(_plain, digits=digits)
        for changed in (case.each(plain), case.mapped(grad=plain), case.mapped(param=plain)):
            if changed.content != case.content:
                yield changed


def _plain(array: Array, digits: int) -> Array:
    """Round to one significant digit, or with ``digits=0`` to the sign."""
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        scale = 10.0 ** np.floor(np.log10(np.abs(wide)))
        plain = np.sign(wide) if digits == 0 else np.round(wide / scale) * scale
    return np.where(np.isfinite(plain), plain, wide).astype(array.dtype)
