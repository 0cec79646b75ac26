"""Writes results for a reader at a terminal, for a page, or for a program."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from optimetry.reports import accuracy_tables, tables
from optimetry.reports.results import Results

TABLE, MARKDOWN, JSON = "table", "markdown", "json"
FORMATS = (TABLE, MARKDOWN, JSON)


def markdown(results: Sequence[Results]) -> str:
    """Write the verdicts as Markdown, and the errors where some were measured."""
    errors = [accuracy_tables.markdown(results)] if any(each.accuracy for each in results) else []
    return "\n".join([tables.markdown(each for each in results if each.verdicts), *errors])


def as_json(results: Sequence[Results]) -> str:
    """Write results as one JSON array: an object for each, with its header and the records of each kind in lists."""
    return json.dumps([dataclasses.asdict(each) for each in results], allow_nan=False, indent=1) + "\n"


WRITERS = {MARKDOWN: markdown, JSON: as_json}
"""What writes each format but the table, whose width is that of the terminal."""
