"""Registers every subject by its name."""

from __future__ import annotations

from optimetry.conformance.cases.case import Case
from optimetry.conformance.subjects.names import not_among
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
