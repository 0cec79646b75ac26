"""Configures JAX for a run, limits what it keeps compiled, and changes trees of arrays.

JAX frees nothing by itself, and each rule and dtype takes a hundred megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array

MOST = 4
"""How many rules or wrappers, each in one dtype, stay compiled: they share a part of it."""


class Caches:
    """Records what is compiled in this process."""

    def __init__(self) -> None:
        self._kept: set[tuple[str, ...]] = set()

    def used(self, *key: str) -> None:
        """Make room before something is compiled for a rule: clear all others if there are too many."""
        if len(self._kept | {key}) > MOST:
            jax.clear_caches()
            self._kept.clear()
        self._kept.add(key)


caches = Caches()


@contextmanager
def configured(wide: bool) -> Iterator[None]:
    """Configure JAX for the CPU, with 64-bit types or without, inside the block."""
    with jax.enable_x64(wide), jax.default_device(jax.local_devices(backend="cpu")[0]):
        yield


def dtypes_of(arrays: Sequence[Array]) -> list[str]:
    """Return the names of the arrays' dtypes, each once."""
    return sorted({array.dtype.name for array in arrays})


def each(change: Callable[[Any], Any], tree: Any) -> Any:
    """Change an array, or each of a tree."""
    return jax.tree_util.tree_map(change, tree)
