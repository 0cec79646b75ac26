"""Writes the reference of rules as Markdown, from their declarations: no word of it is kept by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from optimetry.conformance.commands.rules import hyperparameter_rows
from optimetry.conformance.commands.text.documents import document_of
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject

WRAPPERS = "wrappers"
"""The page of clips, regularizers, averages and compression, which belong to all books."""


def subjects_of(page: str) -> list[Subject]:
    """The rules of a book, or all wrappers; empty where there is no such book."""
    return [
        subject
        for subject in SUBJECTS.values()
        if (isinstance(subject, RuleSubject) and subject.book == page)
        or (not isinstance(subject, RuleSubject) and page == WRAPPERS)
    ]


def pages() -> list[str]:
    """The pages that there are: one for each book, and that of wrappers."""
    return [*dict.fromkeys(subject.book for subject in SUBJECTS.values()), WRAPPERS]


def page_of(page: str) -> str:
    """Write one page: a section for each rule."""
    return "\n\n".join("\n\n".join(_section(subject)) for subject in subjects_of(page)) + "\n"


def _section(subject: Subject) -> Iterator[str]:
    document = document_of(subject)
    yield f"## {subject.name}"
    yield markdown(document.summary)
    yield f"*Document:* {markdown(document.source)}"
    yield from (f"$$\n{formula}\n$$" for formula in document.formulas)
    yield from (markdown(note) for note in document.notes)
    rows = list(hyperparameter_rows(subject))
    if rows:
        yield _table(("hyperparameter", "default", "must be", "meaning"), [(f"`{row[0]}`", *row[1:]) for row in rows])
    if isinstance(subject, RuleSubject) and subject.declaration.slots:
        yield f"*State of each parameter:* {', '.join(f'`{slot}`' for slot in subject.declaration.slots)}"
    yield f"```python\n{document.statements}\n```"
    dialects = [(f"`{each.name}`", each.difference, each.origin) for each in DIALECTS.get(subject.name, ())]
    if dialects:
        yield _table(("known dialect", "what differs", "in"), dialects)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Write plain text so that Markdown leaves it as it is; what stands in backticks already is code."""
    if text.startswith("`"):
        return text
    return re.sub(r"([\\*_<>|\[\]$])", r"\\\1", text)


def markdown(text: str) -> str:
    """Write a docstring's sentences as Markdown: roles as formulas, literals as code."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)
