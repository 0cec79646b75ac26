"""Selection in NumPy: a partition of the magnitudes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.selection.selector import new_messages
from optimetry.reference.distributed.dgc_momentum import Message

BLOCK = 8192
"""The elements that are searched at a time, once the threshold is known."""


class NumpySelector:
    """See `Engine.selector`."""

    def __init__(self, u: Column, v: Column, sizes: Array) -> None:
        self.pairs = [
            (u.block[first : first + size], v.block[first : first + size])
            for first, size in zip(v.first.tolist(), sizes.tolist(), strict=True)
        ]

    def ready(self, numbers: Sequence[int]) -> tuple[list[Message], Callable[[], None]]:
        """Prepare; the magnitudes of the largest parameter are the memory it needs."""
        dtype = self.pairs[0][1].dtype
        _, _, messages = new_messages(numbers, dtype, np.empty)
        magnitude = np.empty(max(v.size for _, v in self.pairs), dtype)

        def run() -> None:
            """Take from each parameter."""
            for (u, v), message in zip(self.pairs, messages, strict=True):
                if v.size:
                    _take(u, v, message, magnitude[: v.size])

        return messages, run


def _take(u: Array, v: Array, message: Message, magnitude: Array) -> None:
    last = v.size - len(message.indices)
    _magnitudes(v, magnitude)
    magnitude.partition(last)
    least = magnitude[last]
    level = len(message.indices) - int(np.count_nonzero(magnitude[last:] > least))
    done, block_of = 0, magnitude[:BLOCK]
    for low in range(0, v.size, BLOCK):
        block = block_of[: v.size - low]
        _magnitudes(v[low : low + BLOCK], block)
        taken = block > least
        equal = np.flatnonzero(block == least)[:level]
        taken[equal] = True
        level -= len(equal)
        indices = np.flatnonzero(taken) + low
        message.indices[done : done + len(indices)] = indices
        message.values[done : done + len(indices)] = v[indices]
        u[indices] = v[indices] = 0
        done += len(indices)


def _magnitudes(v: Array, out: Array) -> None:
    """Return the magnitudes, in which NaN counts as an infinity."""
    np.abs(v, out=out)
    np.copyto(out, np.inf, where=np.isnan(out))
