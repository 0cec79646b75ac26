"""Keeps cases that once were judged wrongly; property tests try them before any drawn case."""

from __future__ import annotations

from functools import cache
from importlib import resources

from optimetry.conformance.cases.case import Case

FILE = "replayed.jsonl"
"""One case a line, as `Case.to_json` writes it."""


@cache
def replayed(optimizer: str, dtype: str) -> tuple[Case, ...]:
    """Return the cases that are kept for one subject in one dtype."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    found = (Case.from_json(line) for line in text.splitlines())
    return tuple(case for case in found if (case.optimizer, case.dtype) == (optimizer, dtype))
