"""Names that are unique in the process, as those of fluid are: ``fc_0``, then ``fc_1``, in whatever program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_counts: list[Counter[str]] = [Counter()]


def unique(prefix: str) -> str:
    """The prefix with its first unused number."""
    counts = _counts[-1]
    counts[prefix] += 1
    return f"{prefix}_{counts[prefix] - 1}"


@contextmanager
def guard() -> Iterator[None]:
    """Count from 0 inside ``with``: the same program built twice has the same names, and shares values on purpose."""
    _counts.append(Counter())
    try:
        yield
    finally:
        _counts.pop()


def taken() -> Counter[str]:
    """How many names each prefix has had."""
    return Counter(_counts[-1])


def give_back(counts: Counter[str]) -> None:
    """Forget the names since `taken`."""
    _counts[-1] = counts
