"""Chooses subjects by the names that a user types: those of a book, or ``book.rule``."""

from __future__ import annotations

from collections.abc import Iterable

from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.reference.books import BOOKS

DEFAULT_BOOK, EVERY_BOOK = "fluid", "all"

BOOK_HELP = f"whose document is the judge: {', '.join(BOOKS)}, or {EVERY_BOOK} (default {DEFAULT_BOOK})"
"""What the option that names a book is for."""


def chosen_in(book: str, asked: Iterable[str] | None) -> list[str]:
    """Return the names of the subjects asked for, each once, or of all rules of a book.

    Args:
        book: its name, or ``all``. A name asked for is one of its rules, ``adamw`` for ``torch.adamw``, or any
            subject's.
        asked: the names; nothing stands for all rules of the book.

    Raises:
        UsageError: there is no such book or subject; the text lists those that there are.
    """
    (book,) = chosen("book", [book], [*BOOKS, EVERY_BOOK])
    rules = [name for each in BOOKS if book in (each, EVERY_BOOK) for name in BOOKS[each]]
    names = [f"{book}.{name}" if f"{book}.{name}" in rules else name for name in asked or ()]
    return chosen("optimizer", names, rules, also=[name for name in SUBJECTS if name not in rules])
