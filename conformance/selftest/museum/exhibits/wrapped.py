"""Clips and averages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.averages import StartsAtInitial
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import FOUND, Memory
from optimetry.conformance.selftest.faults.hooks import computing_as
from optimetry.conformance.selftest.museum.exhibit import bug, enter
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.reference.averaging.exponential import ExponentialAverage
from optimetry.reference.clips import clip_by_global_norm

Fed = Sequence[Array]


class _SquareOfTheNorm(ClipByGlobalNorm):
    """Forgets the root, when it compares and when it divides."""

    def feed(self, fed: Fed, parameters: Fed, state: Any) -> tuple[list[Array], Any]:
        """``g * c / max(c, |g|**2)``."""
        squares = [np.sum(np.square(grad), initial=0.0) for grad in fed]
        divisor = np.maximum(sum(squares[1:], start=squares[0]), self.clip_norm)
        return [grad * self.clip_norm / divisor for grad in fed], None


class _NormOfTheShard(ClipByGlobalNorm):
    """Clips two halves of the list as if each were all of it."""

    def feed(self, fed: Fed, parameters: Fed, state: Any) -> tuple[list[Array], Any]:
        """Two ranks, each with its own norm."""
        half = (len(fed) + 1) // 2
        shards = fed[:half], fed[half:]
        return [grad for shard in shards for grad in clip_by_global_norm(shard, self.clip_norm)], None


class _DecaySwapped(ExponentialMovingAverage):
    """Gives the new value the weight of the old."""

    @property
    def average(self) -> Any:
        """The documented numbers with the complement of the decay."""
        return type(super().average)(1 - self.decay)


class _DecayOverwritten(ExponentialMovingAverage):
    """Stores one minus the decay where the largest decay is kept."""

    def feed(self, fed: Fed, parameters: Fed, state: Any) -> tuple[list[Array], Any]:
        """Begin each update with what the last one has stored."""
        updates, largest, held = state or (0, self.decay, self.average.start(fed))
        average = ExponentialAverage(largest)
        steps = updates if self.scheduled else None
        held = average.update(held, fed, steps)
        return average.averages(held), (updates + 1, 1 - average.decay_at(steps), held)


def _decay_of_the_first_run(documented: Any, parameters: list[Array], memory: Memory) -> Any:
    """Begin runs with the decay that the first one was given."""
    decay = memory.setdefault("decay", documented.decay)
    return run_of(replace(documented, decay=decay), parameters)


EMA, CLIP = ExponentialMovingAverage.name, ClipByGlobalNorm.name

enter(
    "clip",
    (
        bug(
            "entrenar-311",
            CLIP,
            "the norm's root is missing: the limit is compared with |g|**2",
            computing_as(_SquareOfTheNorm),
            FOUND,
        ),
        bug(
            "paddle-35893",
            CLIP,
            "each of two ranks takes the norm of its own shard",
            computing_as(_NormOfTheShard),
            "diverges: documented, but has one norm for each half of the list of gradients",
        ),
    ),
)

enter(
    "average",
    (
        bug(
            "diffusers-1864",
            EMA,
            "each update stores one minus its decay as the largest decay",
            computing_as(_DecayOverwritten),
        ),
        bug(
            "levanter-883",
            EMA,
            "the new value has the weight of the old",
            computing_as(_DecaySwapped),
            "diverges: documented with 1 - decay in place of decay",
        ),
        bug(
            "dfine-331",
            EMA,
            "a second stage sets another decay, but a function holds the first, here 0.5: shown as a second run",
            _decay_of_the_first_run,
            "diverges: documented with decay = 0.5 whatever is given",
        ),
        bug(
            "keras-18972",
            EMA,
            "in a compiled step the average starts from the values at build time",
            computing_as(StartsAtInitial),
            "dialect: starts_at_initial",
        ),
    ),
)
