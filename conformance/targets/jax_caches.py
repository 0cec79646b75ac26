"""Limits what JAX keeps compiled: it frees nothing by itself, and each rule and dtype takes a hundred megabytes."""

from __future__ import annotations

import jax

MOST = 4
"""How many rules or wrappers, each in one dtype, stay compiled: they share a part of it."""


class Caches:
    """Records what is compiled in this process."""

    def __init__(self) -> None:
        self._kept: set[tuple[str, ...]] = set()

    def used(self, *what: str) -> None:
        """Make room before something is compiled for a rule: clear all others if there are too many."""
        if len(self._kept | {what}) > MOST:
            jax.clear_caches()
            self._kept.clear()
        self._kept.add(what)


caches = Caches()
