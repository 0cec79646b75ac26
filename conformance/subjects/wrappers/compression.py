"""What one worker of deep gradient compression sends; the formulas are those of `DGCMomentum`.

Which entries are the largest may depend on rounding. Of an entry that is surely sent, and of one that surely is not,
the message is known up to rounding; of any other it is either, so its bound reaches over both, in this step and the
next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from optimetry.conformance.numerics.bounded import Bounded, Trilean
from optimetry.conformance.subjects.wrappers.clips import holding
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, variant, wrapper
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, count_sent, largest
from optimetry.reference.rule import Array, State, flag, hyper


@wrapper
@dataclass(frozen=True, kw_only=True)
class DGCCompress(Wrapper):
    """``u = m*u + g; v += u``, or ``u = m*(u + g); v += u + g``; the largest entries of v, and zeros for the others.

    What is given of each gradient is ``max(1, int(n*(1-s)))`` of its n entries; there u and v become zero.
    """

    momentum: float = hyper(None, "[0, 1)", "the share of u that is kept", corners=(0.9, 0.5, 0.0))
    sparsity: float = hyper(0.999, "[0, 1)", "the share of entries held back", corners=(0.75, 0.5, 0.9, 0.0, 0.999))
    use_nesterov: bool = flag(False, "look ahead along the velocity")

    name = "dgc_compress"
    elementwise = False

    def lifted(self, lift: Callable[[str, float], Any]) -> Self:
        """With another kind of momentum; the sparsity is a number of entries, and enters no sum."""
        return holding(super().lifted(lambda name, number: number), momentum=lift("momentum", self.momentum))

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Accumulate, and take out."""
        held = state or [State(u=np.zeros_like(grad), v=np.zeros_like(grad)) for grad in fed]
        pairs = [self.compressed(grad, one) for grad, one in zip(fed, held, strict=True)]
        return [message for message, _ in pairs], [one for _, one in pairs]

    def compressed(self, grad: Array, state: State) -> tuple[Array, State]:
        """The message of one gradient as an array of its shape, and what is left."""
        u, v = self.accumulated(grad, state)
        taken = self.taken(u, v)
        return np.where(taken, v, 0.0), State(u=self.left(taken, u), v=np.where(taken, 0.0, v))

    def accumulated(self, grad: Array, state: State) -> tuple[Array, Array]:
        """``u`` and ``v`` with the gradient taken in."""
        rule = DGCMomentum(momentum=0.0, rampup_begin_step=0, use_nesterov=self.use_nesterov)
        return holding(rule, momentum=self.momentum).accumulated(grad, state)

    def count(self, size: int) -> int:
        """How many entries are sent."""
        return count_sent(size, self.sparsity)

    def taken(self, u: Array, v: Array) -> Any:
        """Which entries are sent."""
        return are_largest(v, self.count(math.prod(v.shape)))

    def left(self, taken: Any, u: Array) -> Array:
        """``u`` once entries have been taken out."""
        return np.where(taken, 0.0, u)


def are_largest(v: Any, number: int) -> Any:
    """Where the ``number`` entries of largest magnitude are; among equal ones they are the first."""
    truth = np.zeros(math.prod(v.shape), bool)
    truth[largest(v.value if isinstance(v, Bounded) else v, number)] = True
    if not isinstance(v, Bounded):
        return truth.reshape(v.shape)
    size, bound = np.abs(v.value).reshape(-1), v.bound.reshape(-1)
    known = np.isfinite(bound)
    low = np.where(known, np.maximum(size - bound, 0), 0)
    high = np.where(known, size + bound, np.inf)
    before = np.arange(len(size))[:, None] < np.arange(len(size))  # entry of the row, of the column
    equal = (low[:, None] == high) & (high[:, None] == low)  # exactly
    surely_ahead = (low[:, None] > high) | (equal & before)
    maybe_ahead = (high[:, None] >= low) & ~(equal & ~before)
    undecided = (surely_ahead.sum(axis=0) < number) & (maybe_ahead.sum(axis=0) >= number)
    return Trilean(truth.reshape(v.shape), undecided.reshape(v.shape))


@variant(
    "unmasked_velocity", "u keeps what is sent; only v becomes zero there", "implementations without factor masking"
)
@dataclass(frozen=True, kw_only=True)
class Unmasked(DGCCompress):
    """Stale momentum goes on where an entry has just been sent."""

    def left(self, taken: Any, u: Array) -> Array:
        """All of it."""
        return u


@variant("uncorrected", "v += g: no momentum before entries are sent", "top-k compression with error feedback")
@dataclass(frozen=True, kw_only=True)
class Uncorrected(DGCCompress):
    """Momentum is left to whoever applies the messages."""

    def accumulated(self, grad: Array, state: State) -> tuple[Array, Array]:
        """The gradient as it is."""
        return state.u, state.v + grad


@variant("count_rounded_up", "ceil(n*(1-s)) entries", "implementations that round up")
@dataclass(frozen=True, kw_only=True)
class RoundedUp(DGCCompress):
    """One entry more, mostly."""

    def count(self, size: int) -> int:
        """Rounded up."""
        return min(size, max(1, math.ceil(size * (1 - self.sparsity))))


@variant("velocity_selects", "the entries of largest |u|, not of largest |v|", "misread pseudocode")
@dataclass(frozen=True, kw_only=True)
class VelocitySelects(DGCCompress):
    """What has waited long does not count for more."""

    def taken(self, u: Array, v: Array) -> Any:
        """Another order, the same messages otherwise."""
        return super().taken(v, u)
