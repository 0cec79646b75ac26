"""The protocol of a selector, which takes out the largest entries, and the parts that all selectors share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from optimetry.accelerated.dtypes import Array
from optimetry.reference.distributed.dgc_momentum import Message

DIGIT = 8
"""The bits that are counted at a time."""


@dataclass(frozen=True)
class Keys:
    """The mapping from magnitudes to whole numbers of 64 bits.

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
        """Return the keys of float32 or float64."""
        raw = np.dtype(f"uint{8 * dtype.itemsize}")
        left = 65 - 8 * dtype.itemsize
        infinite = int(np.array(np.inf, dtype).view(raw)) << left
        return cls(raw, left, infinite, tuple(range(64 - DIGIT, 63 - 8 * dtype.itemsize, -DIGIT)))


class Selector(Protocol):
    """A selector compiled for the residuals of one dtype."""

    def ready(self, numbers: Sequence[int]) -> tuple[list[Message], Callable[[], None]]:
        """Prepare to take so many entries of each parameter, at least one of each that has any.

        Returns:
            The messages, and a function to call once: it fills them, and sets the entries that they hold to zero. All
            memory for it is taken before.
        """
        ...


def new_messages(
    numbers: Sequence[int], dtype: np.dtype[Any], new: Callable[[int, Any], Array]
) -> tuple[Array, Array, list[Message]]:
    """Make room for indices and values, and the messages that share it.

    Args:
        numbers: how many entries each has.
        dtype: of the values.
        new: makes a 1-d array of a size and dtype.
    """
    ends = np.cumsum([0, *numbers]).tolist()
    indices, values = new(ends[-1], np.int32), new(ends[-1], dtype)
    return indices, values, [Message(indices[low:high], values[low:high]) for low, high in pairwise(ends)]
