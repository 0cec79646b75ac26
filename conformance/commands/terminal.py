"""Adapts output to the terminal: its width, and colours for verdicts."""

from __future__ import annotations

import os
import re
import shutil
import sys

COLOURS = {"conforms": 32, "imprecise": 33, "dialect": 36, "diverges": 31, "error": 31}
"""The colour of each outcome in a table, as the number of its ANSI sequence; the word is there in any case."""

_OUTCOME = re.compile(rf"(?<=  )({'|'.join(COLOURS)})(?=  |$)", re.MULTILINE)


def terminal_width() -> int:
    """Return the width of the terminal in columns, within limits; 120 in a pipe."""
    return max(80, min(shutil.get_terminal_size((120, 24)).columns, 160)) if sys.stdout.isatty() else 120


def shown(table: str) -> str:
    """Colour the outcomes of a table, on a terminal alone, and unless ``NO_COLOR`` is set (no-color.org)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return table
    return _OUTCOME.sub(lambda found: f"\033[{COLOURS[found[1]]}m{found[1]}\033[0m", table)
