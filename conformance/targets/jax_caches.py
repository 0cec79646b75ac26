"""What JAX compiles it keeps for the life of a process: a hundred megabytes for every rule and dtype."""

from __future__ import annotations

import jax

MOST = 4
"""Of how many rules or wrappers, each in one dtype, what is compiled is kept: they share a part of it."""


class Caches:
    """What is kept in this process."""

    def __init__(self) -> None:
        self._kept: set[tuple[str, ...]] = set()

    def used(self, *what: str) -> None:
        """Make room before something is compiled for a rule: forget all others if there are too many."""
        if len(self._kept | {what}) > MOST:
            jax.clear_caches()
            self._kept.clear()
        self._kept.add(what)


caches = Caches()
