"""What every engine offers to take out the largest entries, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, cast

import numpy as np

from optimetry.accelerated.arena import Column
from optimetry.accelerated.devices.device import Computer, Device
from optimetry.accelerated.dtypes import Array
from optimetry.reference.distributed.dgc_momentum import Message

DIGIT = 8
"""The bits that are counted at a time."""


@dataclass(frozen=True)
class Keys:
    """How magnitudes become whole numbers of 64 bits.

    Attributes:
        raw: the unsigned dtype of the bits of a number.
        left: how far bits are shifted left, which drops the sign.
        infinite: the key of an infinity; that of a NaN is cut to it.
        shifts: by how much a key is shifted right to bring each of its digits to the end, the first digit first.
    """

    raw: np.dtype[Any]
    left: int
    infinite: int
    shifts: tuple[int, ...]

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> Keys:
        """The keys of float32 or float64."""
        raw = np.dtype(f"uint{8 * dtype.itemsize}")
        left = 65 - 8 * dtype.itemsize
        infinite = int(np.array(np.inf, dtype).view(raw)) << left
        return cls(raw, left, infinite, tuple(range(64 - DIGIT, 63 - 8 * dtype.itemsize, -DIGIT)))


class Selection(Protocol):
    """What is to be taken in one step, with all memory for it."""

    messages: list[Message]

    def run(self) -> None:
        """Fill the messages, and leave zeros in place of what they hold."""
        ...


class Selector(Protocol):
    """A way to select, for the residuals of one dtype."""

    def ready(self, numbers: Sequence[int]) -> Selection:
        """Prepare to take so many entries of each parameter, at least one of each that has any."""
        ...


def new_messages(
    numbers: Sequence[int], dtype: np.dtype[Any], new: Callable[[int, Any], Array]
) -> tuple[Array, Array, list[Message]]:
    """Room for indices and values, and the messages that share it out.

    Args:
        numbers: how many entries each has.
        dtype: of the values.
        new: makes a 1-d array of a size and dtype.
    """
    ends = np.cumsum([0, *numbers]).tolist()
    indices, values = new(ends[-1], np.int32), new(ends[-1], dtype)
    return indices, values, [Message(indices[low:high], values[low:high]) for low, high in pairwise(ends)]


def selector(engine: str, u: Column, v: Column, sizes: Array, device: Device, threads: int | None) -> Selector:
    """The selector of an engine that works here.

    Args:
        engine: its name.
        u: what becomes zero where something is taken of ``v``, too; of the same layout.
        v: what is taken.
        sizes: the elements of each parameter.
        device: where ``u`` and ``v`` lie.
        threads: how many threads may work; None for as many as there are processors to use.

    Raises:
        EngineUnavailableError: it does not compile here.
    """
    if engine == "numba":
        from optimetry.accelerated.selection.numba import NumbaSelector

        return NumbaSelector(u, v, sizes, threads)
    if engine == "cuda":
        from optimetry.accelerated.selection.cuda import CudaSelector

        return CudaSelector(u, v, sizes, cast(Computer, device))
    from optimetry.accelerated.selection.numpy import NumpySelector

    return NumpySelector(u, v, sizes)
