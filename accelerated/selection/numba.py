"""Selection by radix in compiled loops, shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numba import njit, types

from optimetry.accelerated.arena import Column
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.plan import Units
from optimetry.accelerated.selection.selector import DIGIT, Keys, new_messages
from optimetry.accelerated.source.machine_code import DONE, TAKEN, counted, fetch_and_add, in_machine_code, look_on
from optimetry.accelerated.threads import together, worthwhile
from optimetry.reference.distributed.dgc_momentum import Message

BINS = 1 << DIGIT

LANES = 4
"""How many counts of each bin are kept: neighbours often fall into one bin, and would wait for each other."""

RUN = 64
"""How many entries are checked together: only if one of them is large enough is each checked alone."""

SHARE = 4
"""How many units a thread takes at a time."""


@njit
def key_of(bits: Any, left: Any, infinite: Any) -> Any:
    """Return the key of a number; `Keys` says what the arguments are."""
    return min(np.uint64(bits) << left, infinite)


@njit
def reaches(run: Any, left: Any, least: Any) -> Any:
    """Return whether any entry has this key or a larger one; a vectorised loop, since it counts and never stops."""
    low, matches = run.dtype.type(least >> left), 0
    magnitude = run.dtype.type(np.uint64(0xFFFFFFFFFFFFFFFF) >> left)
    for bits in run:
        matches += (bits & magnitude) >= low
    return matches > 0


def count(v: Any, units: Any, keys: Any, prefix: Any, shift: Any, counts: Any, counters: Any) -> None:
    """Count by one digit the entries whose digits before it are the prefix of their parameter."""
    left, infinite, size = keys[0], keys[1], units.shape[1]
    lanes = np.zeros((LANES, BINS), np.int64)
    first = counted(counters, TAKEN, SHARE)
    while first < size:
        last = min(first + SHARE, size)
        for unit in range(first, last):
            k, begin, end = units[0, unit], units[1, unit], units[2, unit]
            wanted = prefix[k]
            for at in range(begin, end, RUN):
                run = v[at : min(at + RUN, end)]
                if reaches(run, left, wanted << np.uint64(DIGIT) << shift):
                    for i in range(len(run)):
                        digits = key_of(run[i], left, infinite) >> shift
                        if digits >> np.uint64(DIGIT) == wanted:
                            lanes[i % LANES, digits & np.uint64(BINS - 1)] += 1
            for digit in range(BINS):
                total = 0
                for lane in range(LANES):
                    total += lanes[lane, digit]
                    lanes[lane, digit] = 0
                if total:
                    fetch_and_add(np.uint64(counts.ctypes.data) + np.uint64(8 * (k * BINS + digit)), total)
        counted(counters, DONE, last - first)
        first = counted(counters, TAKEN, SHARE)
    look_on(counters, size)


def choose(prefix: Any, wanted: Any, counts: Any) -> None:
    """Find the digit of the smallest key that is taken, and how many of those that have it; counts become 0."""
    for k in range(len(prefix)):
        digit = BINS - 1
        while digit > 0 and wanted[k] > counts[k, digit]:
            wanted[k] -= counts[k, digit]
            digit -= 1
        prefix[k] = prefix[k] << np.uint64(DIGIT) | np.uint64(digit)
        counts[k] = 0


def mark(v: Any, units: Any, keys: Any, threshold: Any, tallies: Any, counters: Any) -> None:
    """Count the entries of each unit that are above the threshold, and those at it."""
    left, infinite, size = keys[0], keys[1], units.shape[1]
    first = counted(counters, TAKEN, SHARE)
    while first < size:
        last = min(first + SHARE, size)
        for unit in range(first, last):
            least, above, level = threshold[units[0, unit]], 0, 0
            for at in range(units[1, unit], units[2, unit], RUN):
                run = v[at : min(at + RUN, units[2, unit])]
                if reaches(run, left, least):
                    for bits in run:
                        key = key_of(bits, left, infinite)
                        above += key > least
                        level += key == least
            tallies[0, unit], tallies[1, unit] = above, level
        counted(counters, DONE, last - first)
        first = counted(counters, TAKEN, SHARE)
    look_on(counters, size)


def place(units: Any, wanted: Any, tallies: Any) -> None:
    """Find where the entries of each unit go, and how many it gives of those at the threshold."""
    position, item, left = 0, -1, 0
    for unit in range(units.shape[1]):
        if units[0, unit] != item:
            item = units[0, unit]
            left = wanted[item]
        above, level = tallies[0, unit], min(tallies[1, unit], left)
        tallies[0, unit], tallies[1, unit] = position, level
        position += above + level
        left -= level


def take(
    v: Any,
    units: Any,
    keys: Any,
    threshold: Any,
    tallies: Any,
    u: Any,
    first_of: Any,
    indices: Any,
    values: Any,
    counters: Any,
) -> None:
    """Write out the entries that are taken, and set them to zero."""
    left, infinite, size = keys[0], keys[1], units.shape[1]
    first = counted(counters, TAKEN, SHARE)
    while first < size:
        last = min(first + SHARE, size)
        for unit in range(first, last):
            k = units[0, unit]
            least, position, level = threshold[k], tallies[0, unit], tallies[1, unit]
            for at in range(units[1, unit], units[2, unit], RUN):
                run = v[at : min(at + RUN, units[2, unit])]
                if reaches(run, left, least):
                    for i in range(len(run)):
                        key = key_of(run[i], left, infinite)
                        if key > least or (key == least and level > 0):
                            level -= key == least
                            indices[position], values[position] = at + i - first_of[k], run[i]
                            u[at + i] = run[i] = 0
                            position += 1
        counted(counters, DONE, last - first)
        first = counted(counters, TAKEN, SHARE)
    look_on(counters, size)


WHOLE, WIDE, TABLE = types.int64[::1], types.uint64[::1], types.int64[:, ::1]


@cache
def compiled(function: Callable[..., None], raw: np.dtype[Any]) -> Callable[..., None]:
    """Compile one of the loops for numbers of these bits."""
    bits = {"uint32": types.uint32, "uint64": types.uint64}[raw.name][::1]
    units = (bits, TABLE, WIDE, WIDE)
    signatures = {
        count: (*units, types.uint64, TABLE, WHOLE),
        choose: (WIDE, WHOLE, TABLE),
        mark: (*units, TABLE, WHOLE),
        place: (TABLE, WHOLE, TABLE),
        take: (*units, TABLE, bits, WHOLE, types.int32[::1], bits, WHOLE),
    }
    return in_machine_code(function, types.void(*signatures[function]))


class NumbaSelector:
    """See `Engine.selector`."""

    def __init__(self, u: Column, v: Column, sizes: Array, threads: int) -> None:
        self.dtype = v.block.dtype
        self.keys = Keys.of(self.dtype)
        self.u, self.v = u.block.view(self.keys.raw), v.block.view(self.keys.raw)
        self.first = v.first
        units = Units.of(sizes)
        begin = v.first[units.item] + units.start
        self.units = np.stack([units.item, begin, begin + units.count])
        self.threads = worthwhile(threads, units.elements)
        self.count, self.choose, self.mark, self.place, self.take = (
            compiled(function, self.keys.raw) for function in (count, choose, mark, place, take)
        )

    def ready(self, numbers: Sequence[int]) -> tuple[list[Message], Callable[[], None]]:
        """Prepare; besides the messages it needs a few kilobytes for each parameter."""
        indices, values, messages = new_messages(numbers, self.dtype, np.empty)
        wanted, prefix = np.array(numbers, np.int64), np.zeros(len(numbers), np.uint64)
        counts, tallies = np.zeros((len(numbers), BINS), np.int64), np.empty((2, self.units.shape[1]), np.int64)
        v, units, keys = self.v, self.units, np.array([self.keys.left, self.keys.infinite], np.uint64)

        def run() -> None:
            """Find the thresholds, digit by digit, then take."""
            for shift in self.keys.shifts:
                self._shared(self.count, v, units, keys, prefix, np.uint64(shift), counts)
                self.choose(prefix, wanted, counts)
            threshold = prefix << np.uint64(self.keys.shifts[-1])
            self._shared(self.mark, v, units, keys, threshold, tallies)
            self.place(units, wanted, tallies)
            raw = values.view(self.keys.raw)
            self._shared(self.take, v, units, keys, threshold, tallies, self.u, self.first, indices, raw)

        return messages, run

    def _shared(self, loop: Callable[..., None], *arguments: Any) -> None:
        """Run a loop over all units on several threads."""
        counters, size = np.zeros(2, np.int64), self.units.shape[1]
        together(partial(loop, *arguments, counters), self.threads, lambda: counters[DONE] >= size)
