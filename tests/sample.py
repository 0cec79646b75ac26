"""A part of the tests, chosen by position: every test function, with one in so many of its parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def one_in(number: int, functions: Sequence[object]) -> list[bool]:
    """Return for each test, given by its function, whether it is chosen: the first of each, and every ``number``-th."""
    met = Counter[object]()
    chosen = []
    for function in functions:
        chosen.append(met[function] % number == 0)
        met[function] += 1
    return chosen
