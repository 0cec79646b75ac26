"""Writes counts, and texts as indented lines."""

from __future__ import annotations

import textwrap


def counted(count: int, what: str) -> str:
    """Write a number of things."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines, indented."""
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")
