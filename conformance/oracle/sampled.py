"""Chooses the elements of a large case that are compared with the oracle, and makes the case of these alone.

Where an element of the result depends on the same element of the inputs alone, the oracle need not see others; where
norms join the elements, it need not see zeros. The sample has the elements at which implementations pass from one loop
to another, and those that are furthest from a plain evaluation in float64. That evaluation sees every element, but
judges none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array, equal, flat, with_zeros
from optimetry.conformance.subjects.registry import subject_of
from optimetry.reference.declaration import Declared

AFFORDABLE = 2**13
"""The most elements that are all compared."""

DRAWN = 64
"""How many elements of a large tensor are chosen at random."""

CHUNK = 2**16
"""How many elements are evaluated plainly at a time."""

FURTHEST = 8
"""How many elements are chosen in each chunk because they are furthest from the plain evaluation."""

PARTS = (2, 3, 4, 6, 8, 12, 16)
"""Numbers of threads among which elements may be shared out."""


@dataclass(frozen=True)
class Sample:
    """Some elements of a case, as a case.

    Attributes:
        case: the elements, in the order of the whole case; a part of a parameter has as many dimensions, all but the
            first of size 1, since a formula may ask how many there are.
        columns: their numbers among all elements of the whole case.
    """

    case: Case
    columns: Array


def sampled(case: Case, after: Array, computed: Declared) -> Sample:
    """Choose the elements to compare.

    Args:
        case: a large case.
        after: what a target returned, shape (steps, elements).
        computed: the formula that it may compute.
    """
    subject = subject_of(case)
    if not subject.elementwise:
        every = np.arange(case.size)
        needed = every if subject.counts_zeros else _not_zero(case, after)
        return part_of(case, needed) if len(needed) < case.size / 2 else Sample(case, every)
    if case.size <= AFFORDABLE:
        return Sample(case, np.arange(case.size))
    starts = np.cumsum([0, *(param.size for param in case.parameters)])
    kept = [start + edges(param.size) for start, param in zip(starts, case.parameters, strict=False)]
    return part_of(case, np.unique(np.concatenate([*kept, *_furthest(case, after, computed)])))


def _not_zero(case: Case, after: Array) -> Array:
    """Return the elements that are not zero in all inputs, and a few of the others, first those that a target moves."""
    inputs = [flat(case.parameters), *(flat(with_zeros(grads, case.parameters)) for grads in case.grads)]
    nonzero = np.any([row != 0 for row in inputs], axis=0)
    moved = np.flatnonzero(~nonzero & np.any(after != 0, axis=0))
    resting = np.flatnonzero(~nonzero)
    return np.unique(np.concatenate([np.flatnonzero(nonzero), moved[:FURTHEST], resting[:1]]))


def edges(size: int) -> Array:
    """Return the elements of a tensor where loops begin and end, on both sides of each seam, and some at random."""
    powers = 2 ** np.arange(max(size, 1).bit_length())
    seams = np.concatenate([[0, size], powers, size - size % powers, *(np.arange(n) * size // n for n in PARTS)])
    around = np.concatenate([seams - 1, seams, seams + 1, np.random.default_rng(size).integers(0, size, DRAWN)])
    return np.unique(around[(around >= 0) & (around < size)])


def part_of(case: Case, columns: Array) -> Sample:
    """Return these elements of a case as a case; parameters that have none of them are left out.

    A parameter that has all of its elements keeps its shape.
    """
    ends = np.cumsum([param.size for param in case.parameters])
    cuts = np.split(columns, np.searchsorted(columns, ends)[:-1])
    kept = {
        i: own - (end - case.parameters[i].size)
        for i, (own, end) in enumerate(zip(cuts, ends, strict=True))
        if own.size
    }

    def cut(arrays: Any) -> tuple[Any, ...]:
        return tuple(arrays[i] if arrays[i] is None else _of(arrays[i], own) for i, own in kept.items())

    return Sample(case.replace(parameters=cut(case.parameters), grads=tuple(map(cut, case.grads))), columns)


def _of(array: Array, own: Array) -> Array:
    return array if own.size == array.size else array.reshape(-1)[own].reshape(-1, *(1,) * (array.ndim - 1))


@dataclass(frozen=True)
class PlainNumbers:
    """Numbers without a bound, in float64."""

    def array(self, array: Array) -> Array:
        """Widen an input."""
        return np.asarray(array, np.float64)

    def scalar(self, name: str, number: float) -> float:
        """Take a number as it is."""
        return number


def _furthest(case: Case, after: Array, computed: Declared) -> Iterator[Array]:
    """Yield, chunk by chunk, the elements that are furthest from a plain evaluation, relative to their magnitude."""
    subject = subject_of(case)
    for start in range(0, case.size, CHUNK):
        chunk = part_of(case, np.arange(start, min(start + CHUNK, case.size)))
        apart = np.zeros(len(chunk.columns))
        largest = np.abs(flat(chunk.case.parameters).astype(np.float64))
        with np.errstate(all="ignore"):
            for step, arrays in enumerate(subject.trajectory(chunk.case, PlainNumbers(), computed)):
                value, results = flat(list(arrays)), after[step, chunk.columns].astype(np.float64)
                largest = np.fmax(largest, np.abs(value))
                same = equal(results, value)
                off = np.where(same, 0.0, np.nan_to_num(np.abs(results - value) / largest, nan=np.inf))
                apart = np.maximum(apart, off)
        yield chunk.columns[np.argsort(apart)[-FURTHEST:]]
