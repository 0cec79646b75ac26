"""Lays out the arrays of a step: tensors as they are, one buffer for all, blocks of a vector's width, threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array

Slots = Mapping[str, Array]


@dataclass(frozen=True)
class Piece:
    """The arrays of one update, before or after it.

    Attributes:
        param: parameter elements.
        grad: their gradients, of the same shape.
        slots: their state; an array may have further axes before those of the parameter.
        numbers: the slots that are one number of the whole parameter.
        t: the number of updates, this one included.
        is_tail: whether these are the elements that are left behind whole vectors.
    """

    param: Array
    grad: Array
    slots: Slots
    numbers: Mapping[str, Any]
    t: int
    is_tail: bool = False

    @property
    def flat(self) -> Piece:
        """Return the piece with one axis for all elements."""
        size = self.param.size
        ahead = {slot: array.shape[: array.ndim - self.param.ndim] for slot, array in self.slots.items()}
        slots = {slot: array.reshape(*ahead[slot], size) for slot, array in self.slots.items()}
        return replace(self, param=self.param.reshape(size), grad=self.grad.reshape(size), slots=slots)

    def mapped(self, change: Callable[[Array], Array]) -> Piece:
        """Return the piece with every array changed."""
        slots = {slot: change(array) for slot, array in self.slots.items()}
        return replace(self, param=change(self.param), grad=change(self.grad), slots=slots)

    def part(self, part: slice) -> Piece:
        """Return some elements of the flat piece."""
        return self.mapped(lambda array: array[..., part])

    def padded(self, size: int) -> Piece:
        """Return the flat piece, padded with zeros."""

        def pad(array: Array) -> Array:
            return np.concatenate([array, np.zeros((*array.shape[:-1], size - array.shape[-1]), array.dtype)], axis=-1)

        return self.mapped(pad)


Updated = tuple[Array, dict[str, Array]]
"""The parameter and its arrays after an update; numbers of the whole parameter are no matter of layout."""

Update = Callable[[Piece], Updated]
Layout = Callable[[Sequence[Piece], Update], list[Updated]]


def _joined(parts: Sequence[Updated]) -> Updated:
    params, slots = zip(*parts, strict=True)
    return np.concatenate(params), {slot: np.concatenate([part[slot] for part in slots], axis=-1) for slot in slots[0]}


def _reshaped(updated: Updated, like: Piece) -> Updated:
    param, slots = updated
    return param.reshape(like.param.shape), {
        name: array.reshape(like.slots[name].shape) for name, array in slots.items()
    }


def tensors(pieces: Sequence[Piece], update: Update) -> list[Updated]:
    """Update one tensor after the other."""
    return [update(piece) for piece in pieces]


def one_buffer(pieces: Sequence[Piece], update: Update) -> list[Updated]:
    """Update all tensors with the same number of updates, and the same numbers, in one buffer, as fused kernels do."""
    done: list[Updated] = [(piece.param, dict(piece.slots)) for piece in pieces]
    alike = [(piece.t, tuple(map(float, piece.numbers.values()))) for piece in pieces]
    for key in sorted(set(alike)):
        chosen = [i for i, other in enumerate(alike) if other == key]
        flat = [pieces[i].flat for i in chosen]
        joined, joined_slots = _joined([(piece.param, dict(piece.slots)) for piece in flat])
        grads = np.concatenate([piece.grad for piece in flat])
        param, slots = update(replace(flat[0], param=joined, grad=grads, slots=joined_slots))
        ends = np.cumsum([piece.param.size for piece in flat])
        for i, end in zip(chosen, ends, strict=True):
            part = slice(end - pieces[i].param.size, end)
            cut = param[part], {name: array[..., part] for name, array in slots.items()}
            done[i] = _reshaped(cut, pieces[i])
    return done


def blocks_of_16(pieces: Sequence[Piece], update: Update) -> list[Updated]:
    """Update sixteen elements at a time in one pass over all arrays, the last block padded with zeros."""
    done = []
    for piece in pieces:
        flat, size = piece.flat, piece.param.size
        parts = []
        for start in range(0, max(size, 1), 16):
            block = flat.part(slice(start, start + 16))
            param, slots = update(block.padded(16))
            width = block.param.size
            parts.append((param[:width], {name: array[..., :width] for name, array in slots.items()}))
        done.append(_reshaped(_joined(parts), piece))
    return done


LANES = 8
"""The elements of a vector."""


def body_and_tail(pieces: Sequence[Piece], update: Update) -> list[Updated]:
    """Update the whole vectors of every tensor, then the elements behind them, which another loop may compute."""
    done = []
    for piece in pieces:
        flat, size = piece.flat, piece.param.size
        end = size - size % LANES
        parts = [update(flat.part(slice(0, end)))] if end else []
        if end < size or not size:
            parts.append(update(replace(flat.part(slice(end, size)), is_tail=True)))
        done.append(_reshaped(_joined(parts), piece))
    return done


def _spaced(array: Array) -> Array:
    """Return the same elements, as every second of an array in Fortran order where there is more than one axis."""
    spaced = np.zeros([2 * length for length in array.shape], array.dtype, order="F")
    every_second: tuple[Any, ...] = (..., *[slice(None, None, 2)] * array.ndim)
    view: Array = spaced[every_second]
    view[...] = array
    return view


def strided(pieces: Sequence[Piece], update: Update) -> list[Updated]:
    """Update one tensor after the other, none of them contiguous."""
    return [update(piece.mapped(_spaced)) for piece in pieces]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(3)


def threads(pieces: Sequence[Piece], update: Update) -> list[Updated]:
    """Update every tensor in three parts, all at once."""
    started = []
    for piece in pieces:
        size = piece.param.size
        ends = [0, size // 3, 2 * size // 3, size]
        parts = [slice(*pair) for pair in pairwise(ends)]
        started.append([_pool().submit(update, piece.flat.part(part)) for part in parts])
    joined = [_joined([part.result() for part in parts]) for parts in started]
    return [_reshaped(updated, piece) for updated, piece in zip(joined, pieces, strict=True)]
