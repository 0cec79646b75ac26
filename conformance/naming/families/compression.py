"""Compressions of gradients that are called DGC and differ."""

from __future__ import annotations

import math
from typing import Any

from optimetry.conformance.naming.families.family import Dialect, declare
from optimetry.conformance.subjects.wrappers.compression import DGCCompress, are_sent
from optimetry.reference.rule import Array


class Unmasked(DGCCompress):
    """Keeps the momentum of an entry that has just been sent."""

    def left(self, taken: Any, u: Array) -> Array:
        return u


class Uncorrected(DGCCompress):
    """Applies no momentum before entries are sent."""

    def accumulated(self, grad: Array, u: Array, v: Array) -> tuple[Array, Array]:
        return u, v + grad


def rounded_up(size: int, sparsity: float) -> int:
    """How many of ``size`` entries are sent, rounded up."""
    return min(size, max(1, math.ceil(size * (1 - sparsity))))


class RoundedUp(DGCCompress):
    """Rounds the number of entries up: mostly one more is sent."""

    def taken(self, u: Array, v: Array) -> Any:
        return are_sent(v, self.sparsity, rounded_up)


class VelocitySelects(DGCCompress):
    """Selects by |u|, so that accumulated entries do not count for more: another order, the same messages otherwise."""

    def taken(self, u: Array, v: Array) -> Any:
        return super().taken(v, u)


declare(
    Dialect(
        name="unmasked_velocity",
        family=Unmasked,
        origin="implementations without factor masking",
        difference="u keeps what is sent; only v becomes zero there",
    ),
    Dialect(
        name="uncorrected",
        family=Uncorrected,
        origin="top-k compression with error feedback",
        difference="v += g: no momentum before entries are sent",
    ),
    Dialect(
        name="count_rounded_up",
        family=RoundedUp,
        origin="implementations that round up",
        difference="ceil(n*(1-s)) entries",
    ),
    Dialect(
        name="velocity_selects",
        family=VelocitySelects,
        origin="misread pseudocode",
        difference="the entries of largest |u|, not of largest |v|",
    ),
)
