"""The average of a list of arrays over the current and the previous window of updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from optimetry.reference.rule import Array

FOLD = 16384
"""After so many updates the running sum is folded into a second one, for small terms are lost in a large sum."""


class Windows(NamedTuple):
    """The state of a window average.

    Attributes:
        updates: all updates so far.
        in_window: updates in the current window.
        in_previous: updates in the previous window.
        recent: sums over the current window since the last fold.
        folded: sums over the current window before it.
        previous: sums over the previous window.
    """

    updates: int
    in_window: int
    in_previous: int
    recent: Sequence[Array]
    folded: Sequence[Array]
    previous: Sequence[Array]


@dataclass(frozen=True)
class WindowAverage:
    r"""The numbers behind `ModelAverage`, for any kind of array that NumPy functions dispatch on.

    Symbols: :math:`s_1, s_2` sums over the current window, :math:`s_3` over the previous one, :math:`n` updates in the
    current window, :math:`o` in the previous one, :math:`u` all updates.

    .. math::
        s_1 \leftarrow s_1 + w, \qquad
        n \ge \text{minimum and } n \ge \min(\text{maximum}, u \cdot \text{rate}):\quad
        s_3 \leftarrow s_1 + s_2,\ s_1, s_2 \leftarrow 0,\ o \leftarrow n,\ n \leftarrow 0

    The average is :math:`(s_1 + s_2 + s_3) / (n + o)`. Every `FOLD` updates :math:`s_1` is added to :math:`s_2`.

    Documented: fluid.optimizer.ModelAverage (page 000), as far as the condition goes.
    Decision: the current and the previous window are averaged, which the page leaves open: the current one is empty
    right after a window has been closed.

    Attributes:
        rate: the window's length as a share of all updates.
        minimum: the least number of updates in a window.
        maximum: no window need be longer than this many updates.
    """

    rate: float
    minimum: int
    maximum: int

    def start(self, parameters: Sequence[Array]) -> Windows:
        """The state before the first update."""
        return Windows(0, 0, 0, _zeros(parameters), _zeros(parameters), _zeros(parameters))

    def update(self, state: Windows, parameters: Sequence[Array]) -> Windows:
        """The state with these parameters averaged in, arrays of the same shapes and dtypes at each update."""
        updates, in_window, in_previous, recent, folded, previous = state
        updates, in_window = updates + 1, in_window + 1
        recent = _added(recent, parameters)
        if updates % FOLD == 0:
            folded, recent = _added(folded, recent), _zeros(parameters)
        if self.is_full(updates, in_window):
            previous = _added(recent, folded)
            recent, folded = _zeros(parameters), _zeros(parameters)
            in_previous, in_window = in_window, 0
        return Windows(updates, in_window, in_previous, recent, folded, previous)

    def is_full(self, updates: int, in_window: int) -> bool:
        """Whether the current window is closed."""
        return in_window >= self.minimum and in_window >= np.minimum(self.maximum, updates * self.rate)

    def averages(self, state: Windows) -> list[Array]:
        """The averages over both windows; NaN before the first update."""
        count = state.in_window + state.in_previous
        return [total / count for total in _added(_added(state.recent, state.folded), state.previous)]


def _zeros(like: Sequence[Array]) -> list[Array]:
    return [np.zeros_like(array) for array in like]


def _added(a: Sequence[Array], b: Sequence[Array]) -> list[Array]:
    return [x + y for x, y in zip(a, b, strict=True)]
