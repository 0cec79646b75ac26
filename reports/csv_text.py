"""Writes tables in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable


def csv_of(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write rows with every digit below the names of their columns; a cell is empty where there is nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()
