"""The reference schedule of a pipeline: which section works on which micro-batch, when.

Scopes pass from section to section through bounded queues and from the last section back to the first, as in the
implementation that the page describes: ``queue_size`` of them exist, so no more micro-batches are in flight. Time goes
in ticks. In a tick every section, the last one first, takes as many scopes from its queue as its concurrency, first in
first out, so a scope moves on by one section in each tick.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple


class Turn(NamedTuple):
    """One micro-batch in one section."""

    section: int
    micro_batch: int


def turns(micro_batches: int, concurrency: Sequence[int], queue_size: int) -> list[Turn]:
    """All turns, in the order in which the reference takes them.

    Args:
        micro_batches: how many there are.
        concurrency: how many scopes each section takes in a tick.
        queue_size: how many scopes there are, and room for so many in each queue.
    """
    sections = len(concurrency)
    queues: list[deque[int]] = [deque() for _ in concurrency]
    waiting = deque(range(micro_batches))
    in_flight = 0
    order: list[Turn] = []
    while waiting or in_flight:
        while waiting and in_flight < queue_size:
            queues[0].append(waiting.popleft())
            in_flight += 1
        for section in reversed(range(sections)):
            for _ in range(min(concurrency[section], len(queues[section]))):
                micro_batch = queues[section].popleft()
                order.append(Turn(section, micro_batch))
                if section + 1 < sections:
                    queues[section + 1].append(micro_batch)
                else:
                    in_flight -= 1
    return order
