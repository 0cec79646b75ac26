"""Checks names that a user chooses from a list."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from optimetry.reference.errors import UsageError

LONGER = 3
"""How many names that begin like a wrong one are shown."""


def near_miss(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean adam?`` where names are the same in other books, close, or longer, else nothing."""
    known = list(names)
    rule = name.rpartition(".")[2]
    near = [other for other in known if other.rpartition(".")[2] == rule]  # of another book
    near = near or difflib.get_close_matches(name, known, n=1)
    near = near or [other for other in known if name and other.startswith(name)][:LONGER]
    return f"; did you mean {' or '.join(near)}?" if near else ""


LISTED = {"optimizer": "`optimetry rules` lists them", "case": "docs/museum.md lists them"}
"""Where all names of a kind are listed, in words for an error text."""

MOST = 12
"""How many names an error text has at most."""


def not_among(kind: str, name: str, names: Iterable[str]) -> str:
    """Describe a name that is not among those known: with what is, the closest one, and where to read of them."""
    known = list(names)
    shown = [*known[:MOST], "…"] if len(known) > MOST else known
    listed = f" ({LISTED[kind]})" if kind in LISTED else ""
    if "," in name and {each.strip() for each in name.split(",")} <= set(known):
        return f"unknown {kind} {name!r}: name one at a time, the option may be repeated"
    return f"unknown {kind} {name!r}, must be one of: {', '.join(shown)}{listed}{near_miss(name, known)}"


def chosen(
    kind: str,
    asked: Iterable[str] | None,
    allowed: Iterable[str],
    also: Iterable[str] = (),
    elsewhere: Iterable[str] = (),
) -> list[str]:
    """Return the names asked for, each once, or all that are allowed.

    Args:
        kind: what the names are of, for the error's text.
        asked: the names; nothing stands for all.
        allowed: what may be asked for.
        also: what may be asked for, but is not among all.
        elsewhere: names that other commands take.

    Raises:
        UsageError: one is not allowed; the text lists what is.
    """
    names = list(allowed)
    picked = list(dict.fromkeys(asked or names))
    names += also
    for name in picked:
        if name not in names and name in elsewhere:
            raise UsageError(f"{kind} {name!r} is not offered by this command, must be one of: {', '.join(names)}")
        if name not in names:
            raise UsageError(not_among(kind, name, names))
    return picked
