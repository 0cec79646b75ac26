"""Takes apart what a wrapper keeps, which is nested in tuples and lists, and puts other parts in their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def leaves_of(state: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of what a wrapper keeps, each with the name of its field; of one parameter alone."""
    if not isinstance(state, tuple | list):
        yield name, state
        return
    for field, part in zip(getattr(state, "_fields", [name] * len(state)), state, strict=True):
        yield from leaves_of(part, field)


def with_leaves(state: Any, leaves: Iterator[Any]) -> Any:
    """Return the same structure with other parts."""
    if not isinstance(state, tuple | list):
        return next(leaves)
    parts = [with_leaves(part, leaves) for part in state]
    return parts if isinstance(state, list) else type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
