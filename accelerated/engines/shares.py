"""Shares the units of a compiled loop out among threads."""

from __future__ import annotations

from functools import partial

import numpy as np

from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.plan import UNIT
from optimetry.accelerated.source.machine_code import DONE, Loop
from optimetry.accelerated.threads import together

SHARE = 4 * UNIT
"""About how many elements a thread takes at a time: a thread that the system delays takes fewer."""

DOUBLE = np.dtype(np.float64)


def at_once(units: int, elements: int) -> int:
    """Return how many units a thread takes at a time."""
    return max(1, SHARE * units // max(1, elements))


def share_out(loop: Loop, table: Array, units: Array, scalars: Array, sums: Array, share: int, threads: int) -> None:
    """Run a loop with these arguments over all units, on several threads that take ``share`` units at a time."""
    counters, size = np.zeros(2, np.int64), units.shape[1]
    together(partial(loop, table, units, scalars, sums, share, counters), threads, lambda: bool(counters[DONE] >= size))
