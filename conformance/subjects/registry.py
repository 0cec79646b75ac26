"""Registers every subject by its name, and chooses those that a user names: of a book, or as ``book.rule``."""

from __future__ import annotations

from collections.abc import Iterable

from optimetry.conformance.cases.case import Case
from optimetry.conformance.subjects.names import chosen, not_among
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.subjects.wrappers.wrapper import WrapperSubject
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import UnknownOptimizerError

SUBJECTS: dict[str, Subject] = {
    **{name: RuleSubject(rule) for name, rule in BOOKS["fluid"].items()},
    **{name: WrapperSubject(wrapper) for name, wrapper in WRAPPERS.items()},
    **{name: RuleSubject(rule) for book, rules in BOOKS.items() if book != "fluid" for name, rule in rules.items()},
}
"""Every documented rule and wrapper by name: those of fluid first, then the rules of the other books."""


def subject_named(name: str) -> Subject:
    """Look a subject up.

    Raises:
        UnknownOptimizerError: no rule or wrapper has that name; the text lists those that there are.
    """
    try:
        return SUBJECTS[name]
    except KeyError:
        raise UnknownOptimizerError(not_among("optimizer", name, SUBJECTS)) from None


def subject_of(case: Case) -> Subject:
    """Return the subject that a case is for."""
    return subject_named(case.optimizer)


DEFAULT_BOOK, EVERY_BOOK = "fluid", "all"

BOOK_HELP = f"whose document is the judge: {', '.join(BOOKS)}, or {EVERY_BOOK} (default {DEFAULT_BOOK})"
"""What the option that names a book is for."""


def chosen_in(book: str, asked: Iterable[str] | None) -> list[str]:
    """Return the names of the subjects asked for, each once, or of all rules of a book.

    Args:
        book: its name, or ``all``. A name asked for is one of its rules, ``adamw`` for ``torch.adamw``, or any
            subject's.
        asked: the names; nothing stands for all rules of the book. A rule of another book has that book's name in
            front; fluid's have none, and are asked for in fluid's book, or in all.

    Raises:
        UsageError: there is no such book or subject; the text lists those that there are.
    """
    (book,) = chosen("book", [book], [*BOOKS, EVERY_BOOK])
    rules = [name for each in BOOKS if book in (each, EVERY_BOOK) for name in BOOKS[each]]
    names = [f"{book}.{name}" if f"{book}.{name}" in rules else name for name in asked or ()]
    hidden = () if book in (DEFAULT_BOOK, EVERY_BOOK) else BOOKS[DEFAULT_BOOK]
    return chosen("optimizer", names, rules, also=[x for x in SUBJECTS if x not in rules and x not in hidden])
