"""The outcome of a comparison of numbers with bounds, which may be undecided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What NumPy functions other than ufuncs become on numbers with bounds; `operations` and `reductions` enter them."""


class Trilean:
    """The outcome of comparing `Bounded` arrays: true, false or, where the bounds overlap, undecided.

    Attributes:
        truth: what the wide values say, an array of bool.
        undecided: where the bounds allow the other answer.
    """

    def __init__(self, truth: Any, undecided: Any) -> None:
        self.truth = np.asarray(truth)
        self.undecided = np.asarray(undecided)

    def __and__(self, other: Trilean) -> Trilean:
        settled = (~self.truth & ~self.undecided) | (~other.truth & ~other.undecided)
        return Trilean(self.truth & other.truth, (self.undecided | other.undecided) & ~settled)

    def __or__(self, other: Trilean) -> Trilean:
        return ~(~self & ~other)

    def __invert__(self) -> Trilean:
        return Trilean(~self.truth, self.undecided)

    def __bool__(self) -> bool:
        raise TypeError("a comparison of Bounded numbers may be undecided: choose with np.where, not with if")

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return FUNCTIONS[func](*args, **kwargs) if func in FUNCTIONS else NotImplemented
