"""A part of the tests, chosen by position: every test function, with one in so many of its parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from zlib import crc32


def place(name: str, number: int) -> int:
    """A number from 0 to ``number - 1`` that a name always has."""
    return crc32(name.encode()) % number


def one_in(number: int, functions: Sequence[str]) -> list[bool]:
    """Return for each test, given by its function, whether it is chosen: of each function every ``number``-th.

    Which is the first differs from function to function and is always the same, so that no rule is left out of all:
    many functions have rules for parameters, in one order.
    """
    counts, met = Counter(functions), Counter[str]()
    chosen = []
    for function in functions:
        first = place(function, min(number, counts[function]))
        chosen.append(met[function] % number == first)
        met[function] += 1
    return chosen
