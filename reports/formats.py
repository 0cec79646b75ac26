"""Writes results for a reader at a terminal, for a page, or for a program."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.reports import accuracy_tables, certificate_tables, speed_tables, tables
from optimetry.reports.results import Results

TABLE, MARKDOWN, JSON = "table", "markdown", "json"
FORMATS = (TABLE, MARKDOWN, JSON)


@dataclass(frozen=True)
class Writers:
    """The writers of one kind of measurements.

    Attributes:
        kind: the attribute of `Results` that holds them.
        terminal: writes those of one file as a table of some width.
        markdown: writes those of several files as a page.
        csv: writes them with every digit; None where nothing does.
    """

    kind: str
    terminal: Callable[[Sequence[Any], int], str]
    markdown: Callable[[Sequence[Results]], str]
    csv: Callable[[Sequence[Results]], str] | None = None

    def of(self, results: Results) -> Sequence[Any]:
        """Return the measurements of this kind."""
        return getattr(results, self.kind)  # type: ignore[no-any-return]


MEASURED = (
    Writers("accuracy", accuracy_tables.terminal, accuracy_tables.markdown, accuracy_tables.csv_text),
    Writers("speed", lambda rows, _: speed_tables.terminal(rows), speed_tables.markdown),
    Writers("certificates", certificate_tables.terminal, certificate_tables.markdown, certificate_tables.csv_text),
)
"""The kinds of measurements beside the verdicts, in the order of a page."""


def markdown(results: Sequence[Results]) -> str:
    """Write the verdicts as Markdown, and a page of each kind of measurements that there is."""
    pages = [tables.markdown(each for each in results if each.verdicts)]
    pages += [kind.markdown(results) for kind in MEASURED if any(map(kind.of, results))]
    return "\n".join(filter(None, pages))


def as_json(results: Sequence[Results]) -> str:
    """Write results as one JSON array: an object for each, with its header and the records of each kind in lists."""
    return json.dumps([dataclasses.asdict(each) for each in results], allow_nan=False, indent=1) + "\n"


WRITERS = {MARKDOWN: markdown, JSON: as_json}
"""The writer of each format but the table, whose width is that of the terminal."""
