"""Whether the present code builds a program or computes at once: inside ``with fluid.dygraph.guard():`` at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from optimetry.reference.programs.places import Place, checked_place

_depth = [0]


@contextmanager
def guard(place: Place | None = None) -> Iterator[None]:
    """Compute at once inside ``with``."""
    checked_place("guard", "place", place)
    _depth[0] += 1
    try:
        yield
    finally:
        _depth[0] -= 1


def enabled() -> bool:
    """Whether this is inside `guard`."""
    return _depth[0] > 0
