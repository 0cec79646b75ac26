"""Writes for a terminal: its width, colours for verdicts, counts, indented lines and the numbers of a case."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from optimetry.conformance.cases.case import Case

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
    return _OUTCOME.sub(lambda match: f"\033[{COLOURS[match[1]]}m{match[1]}\033[0m", table)


def counted(count: int, noun: str) -> str:
    """Write a number of things, such as `1 step` or `2 steps`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


NONE_OFFERED = "none of the rules asked for is offered"


def filled(text: str) -> str:
    """Break a line between words where the terminal ends; in a pipe it stays whole."""
    if not sys.stdout.isatty():
        return text
    return textwrap.fill(text, terminal_width(), break_long_words=False, break_on_hyphens=False)


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines, indented."""
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def rows_of(case: Case) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a case as rows of a table."""
    yield from case.hyper.items()
    yield "learning rates", ", ".join(map(str, case.learning_rates))
    yield "parameters", _tensors(case.parameters, case)
    yield from ((f"gradients, step {step + 1}", _tensors(grads, case)) for step, grads in enumerate(case.grads))


def _tensors(arrays: Sequence[Any], case: Case) -> str:
    """Write tensors with semicolons between them."""
    texts = ("none" if x is None else ", ".join(digits_of(each, case) for each in x.reshape(-1)) for x in arrays)
    return "; ".join(text or "(empty)" for text in texts)


def digits_of(value: Any, case: Case) -> str:
    """Write a number with enough digits to identify it."""
    return repr(float(value)).removesuffix(".0") if case.dtype == "float64" else f"{float(value):.9g}"
