"""Declares what one worker of deep gradient compression sends; the formulas are those of `DGCMomentum`.

Which entries are the largest may depend on rounding. Of an entry that is surely sent, and of one that surely is not,
the message is known up to rounding; of any other it is either, so its bound covers both, in this step and the
next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.trilean import Trilean
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, wrapper
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.distributed.dgc_momentum import accumulate, count_sent, largest
from optimetry.reference.rule import Array


class Accumulated(NamedTuple):
    """What is kept of one gradient.

    Attributes:
        u: the momentum.
        v: what is not sent yet.
    """

    u: Array
    v: Array


@wrapper
@dataclass(frozen=True, kw_only=True)
class DGCCompress(Wrapper):
    """``u = m*u + g; v += u``, or ``u = m*(u + g); v += u + g``; the largest entries of v, and zeros for the others.

    What is given of each gradient is ``max(1, int(n*(1-s)))`` of its n entries; there u and v become zero.

    Documented: fluid.optimizer.DGCMomentumOptimizer (page 000).
    """

    momentum: float = hyper(None, "[0, 1)", "the share of u that is kept", corners=(0.9, 0.5, 0.0))
    sparsity: float = hyper(0.999, "[0, 1)", "the share of entries held back", corners=(0.75, 0.5, 0.9, 0.0, 0.999))
    use_nesterov: bool = flag(False, "look ahead along the velocity")

    name = "dgc_compress"
    elementwise = False
    counts_zeros = True
    decides = ("sparsity",)

    def first(self, fed: Sequence[Array]) -> Any:
        """Nothing is accumulated."""
        return [Accumulated(np.zeros_like(grad), np.zeros_like(grad)) for grad in fed]

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Accumulate, and take out."""
        pairs = [self.compressed(grad, *uv) for grad, uv in zip(fed, state or self.first(fed), strict=True)]
        return [message for message, _ in pairs], [left for _, left in pairs]

    def compressed(self, grad: Array, u: Array, v: Array) -> tuple[Array, tuple[Array, Array]]:
        """The message of one gradient as an array of its shape, and the u and v that are left."""
        u, v = self.accumulated(grad, u, v)
        taken = self.taken(u, v)
        return np.where(taken, v, 0.0), (self.left(taken, u), np.where(taken, 0.0, v))

    def accumulated(self, grad: Array, u: Array, v: Array) -> tuple[Array, Array]:
        """``u`` and ``v`` with the gradient taken in."""
        return accumulate(u, v, grad, self.momentum, self.use_nesterov)

    def taken(self, u: Array, v: Array) -> Any:
        """Which entries are sent."""
        return are_sent(v, self.sparsity)

    def left(self, taken: Any, u: Array) -> Array:
        """``u`` once entries have been taken out."""
        return np.where(taken, 0.0, u)


@singledispatch
def are_sent(v: Any, sparsity: float, count: Callable[[int, float], int] | None = None) -> Any:
    """Where the entries are that are sent: the largest, as many as `count_sent` says, or ``count``."""
    return are_largest(v, (count or count_sent)(math.prod(v.shape), sparsity))


@singledispatch
def are_largest(v: Array, number: int) -> Any:
    """Where the ``number`` entries of largest magnitude are; among equal ones they are the first."""
    truth = np.zeros(math.prod(v.shape), bool)
    truth[largest(v, number)] = True
    return truth.reshape(v.shape)


@are_largest.register
def _(v: Bounded, number: int) -> Trilean:
    """The same on numbers with bounds, undecided where rounding may put another entry ahead."""
    truth = are_largest.dispatch(np.ndarray)(v.value, number)
    size, bound = np.abs(v.value).reshape(-1), v.bound.reshape(-1)
    known = np.isfinite(bound)
    low = np.where(known, np.maximum(size - bound, 0), 0)
    high = np.where(known, size + bound, np.inf)
    low, high = np.split(_ranks(np.concatenate([low, high])), 2)
    entries = len(low)
    equal_before, equal_after = _equal_around(np.where(low == high, low, -1))
    # An entry is surely ahead of another if its interval is above, maybe ahead unless it is below; equal exact entries
    # are in their order.
    surely_ahead = entries - np.searchsorted(np.sort(low), high, side="right") + equal_before
    maybe_ahead = entries - np.searchsorted(np.sort(high), low, side="left") - 1 - equal_after
    undecided = (surely_ahead < number) & (maybe_ahead >= number)
    return Trilean(truth, undecided.reshape(v.shape))


def _ranks(values: Array) -> Array:
    """Number the different values in ascending order."""
    order = np.argsort(values)
    ascending = values[order]
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.cumsum(np.concatenate([[False], ascending[1:] != ascending[:-1]])[: len(values)])
    return ranks


def _equal_around(keys: Array) -> tuple[Array, Array]:
    """Count, for each key, the equal ones before it and those after it; none for a key of -1."""
    order = np.argsort(keys, kind="stable")
    ascending = keys[order]
    places = np.arange(len(keys))
    before, after = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    before[order] = places - np.searchsorted(ascending, ascending, side="left")
    after[order] = np.searchsorted(ascending, ascending, side="right") - 1 - places
    return np.where(keys < 0, 0, before), np.where(keys < 0, 0, after)
