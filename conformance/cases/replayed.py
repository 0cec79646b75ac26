"""Keeps cases that once were judged wrongly, or that come nearest to it: they are tried beside drawn ones."""

from __future__ import annotations

from functools import cache
from importlib import resources

from optimetry.conformance.cases.case import Case

CORPUS = "corpus"
"""The folder with a file for each subject and dtype; one case a line, as `Case.to_json` writes it."""


def file_of(optimizer: str, dtype: str) -> str:
    """Return the name of the file in `CORPUS` for one subject in one dtype."""
    return f"{optimizer}-{dtype}.jsonl"


@cache
def replayed(optimizer: str, dtype: str) -> tuple[Case, ...]:
    """Return the cases that are kept for one subject in one dtype."""
    file = resources.files(__package__).joinpath(CORPUS, file_of(optimizer, dtype))
    if not file.is_file():
        return ()
    return tuple(map(Case.from_json, file.read_text(encoding="utf-8").splitlines()))
