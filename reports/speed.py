"""The record of how fast a contender steps, beside others in the same run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TOUCH = "touch"
"""The contender that stands for the speed of memory."""


@dataclass(frozen=True, kw_only=True)
class Speed:
    """The time of one contender on one rule.

    Attributes:
        rule: the rule's name.
        contender: an engine of the target, ours by the name of the engine alone, or `TOUCH`.
        dtype: of the parameters.
        tensors: how many parameters.
        elements: of each of them.
        nanoseconds: for one element, the median over rounds.
        spread: half the distance of the quartiles, as a share of the median.
        bytes: how many one step of our kernel moves for one element.
        gigabytes_per_second: the bytes divided by the time.
        touch_share: the time of the touch limit divided by this time: 1 is as fast as memory.
        peer: the fastest peer.
        peer_ratio: its time divided by this time: above 1 is faster than every peer. Both None without peers.
        threads: how many threads ran at once, in the round where most did; None in results of older versions.
    """

    kind: Literal["speed"] = "speed"
    rule: str
    contender: str
    dtype: str
    tensors: int
    elements: int
    nanoseconds: float
    spread: float
    bytes: int
    gigabytes_per_second: float
    touch_share: float
    peer: str | None
    peer_ratio: float | None
    threads: float | None = None

    @property
    def book(self) -> str:
        """Whose document the rule is of: the word before a point in its name, else fluid."""
        book, point, _ = self.rule.partition(".")
        return book if point else "fluid"

    @property
    def about(self) -> tuple[str, str, int, int]:
        """What was run: contenders are compared within one such run alone."""
        return self.rule, self.dtype, self.tensors, self.elements


def called(contender: str) -> str:
    """Return the name of a contender for readers who do not know those of our engines."""
    names = {TOUCH: "speed of memory", "numba": "accelerated numba", "numpy": "accelerated numpy"}
    return names.get(contender, contender)
