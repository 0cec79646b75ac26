"""The record of one documented rule in a results file: what its document says, for those who read the verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Document:
    """The documented rule that a verdict is on.

    Attributes:
        book: the collection of documents that the rule belongs to.
        optimizer: the rule's or wrapper's name.
        source: the document and the place in it.
        summary: one sentence.
        formulas: the documented formula in LaTeX, line by line; empty where the document has none.
        statements: the same as statements of Python, with the document's names.
        notes: what the symbols mean and what had to be decided, as reStructuredText.
    """

    kind: Literal["document"] = "document"
    book: str
    optimizer: str
    source: str
    summary: str
    formulas: list[str] = field(default_factory=list)
    statements: str
    notes: list[str] = field(default_factory=list)
