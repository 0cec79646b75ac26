"""Chooses subjects by the names that a user types: those of a book, or ``book.rule``."""

from __future__ import annotations

from collections.abc import Iterable

from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.reference.books import BOOKS

DEFAULT_BOOK = "fluid"

BOOK_HELP = f"whose document is the judge: {' or '.join(BOOKS)} (default {DEFAULT_BOOK})"
"""What the option that names a book is for."""


def chosen_in(book: str, asked: Iterable[str] | None) -> list[str]:
    """Return the names of the subjects asked for, each once, or of all rules of a book.

    Args:
        book: its name. A name asked for is one of its rules, ``adamw`` for ``torch.adamw``, or any subject's.
        asked: the names; nothing stands for all rules of the book.

    Raises:
        UsageError: there is no such book or subject; the text lists those that there are.
    """
    (book,) = chosen("book", [book], BOOKS)
    rules = BOOKS[book]
    names = [f"{book}.{name}" if f"{book}.{name}" in rules else name for name in asked or ()]
    return chosen("optimizer", names, rules, also=[name for name in SUBJECTS if name not in rules])
