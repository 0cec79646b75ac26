"""Writes text into Markdown, so that none of it is taken for markup."""

from __future__ import annotations

import re


def in_cell(text: str) -> str:
    """Return text, or Markdown, for a cell of a table: in one line, its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def plain_in_cell(text: str) -> str:
    """Return plain text for a cell of a table: no product is taken for emphasis, and no type for a tag."""
    text = re.sub(r"<(?=[A-Za-z/!?])|__", lambda found: "".join(f"\\{each}" for each in found[0]), in_cell(text))
    return text.replace("*", "\\*") if text.count("*") > 1 else text
