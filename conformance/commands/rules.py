"""Runs ``optimetry rules``: lists what is documented, and shows one rule or wrapper on a screen."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tabulate import tabulate

from optimetry.conformance.commands.text.documents import formula_text, notes, source_of, starts_otherwise
from optimetry.conformance.commands.text.terminal import terminal_width
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.subjects.registry import DEFAULT_BOOK, SUBJECTS, chosen_in, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import LEARNING_RATE, Subject
from optimetry.reference.books import BOOKS
from optimetry.reports.numbers import NONE

EXAMPLES = """\
examples:
  optimetry rules                 all rules and wrappers
  optimetry rules --book torch    the rules of torch's document
  optimetry rules adam            its hyperparameters, slots, formula, document and known dialects

exit status: 0 it is shown; 2 there is no such rule."""

REQUIRED = "(required)"

Row = tuple[str, str, str, str]


def add_rules(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "rules",
        help="show what is documented of each optimizer",
        description="Show every rule and wrapper that a target can be judged on, or one of them on a screen.",
        epilog=EXAMPLES,
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a rule or a wrapper, such as adam or torch.adamw (default: list all)"
    )
    parser.add_argument(
        "--book", metavar="NAME", help=f"whose rules: {', '.join(BOOKS)} (default: all, and the wrappers)"
    )
    parser.set_defaults(command=rules_command)


def rules_command(options: argparse.Namespace) -> int:
    """Run ``optimetry rules``."""
    if options.name is None:
        subjects = SUBJECTS.values() if options.book is None else map(subject_named, chosen_in(options.book, None))
        print(listed(subjects, terminal_width()))
    else:
        (name,) = chosen_in(options.book or DEFAULT_BOOK, [options.name])
        print(screen(subject_named(name), terminal_width()))
    return 0


def listed(subjects: Iterable[Subject], width: int) -> str:
    """Write a table of the rules of each book, and one of the wrappers."""
    kinds: dict[str, list[Subject]] = {}
    for subject in subjects:
        kind = "rule" if isinstance(subject, RuleSubject) else "wrapper"
        kinds.setdefault(f"{kind} of {subject.book}", []).append(subject)
    tables = [_table(kind, members, width) for kind, members in kinds.items()]
    return "\n\n".join([*tables, "`optimetry rules NAME` shows one of them: domains, slots, formula, dialects."])


def _table(kind: str, subjects: Iterable[Subject], width: int) -> str:
    """Write a table, without the documents where they do not fit the terminal."""
    rows = []
    for subject in subjects:
        numbers = ", ".join(f"{name}={default}" for name, default, *_ in hyperparameter_rows(subject))
        dialects = str(len(DIALECTS.get(subject.name, ())) or NONE)
        document = re.sub(r" \((page|docstring).*", "", subject.document)
        rows.append((subject.name, numbers.replace(f"={REQUIRED}", ""), dialects, document))
    columns = (kind, "hyperparameters and defaults", "dialects", "document")
    longest = max(len(columns[1]) + 2, *(len(number) + 1 for row in rows for number in row[1].split()))
    for shown in (4, 3):
        kept, cells = columns[:shown], [row[:shown] for row in rows]
        name, _, *others = _widths(kept, cells)
        room = width - name - sum(others) - 2 * (shown - 1)
        if room >= longest:
            break
    align = ("left", "left", "right", "left")[:shown]
    widths = [None, max(room, longest), None, None][:shown]
    return tabulate(cells, kept, "simple", disable_numparse=True, maxcolwidths=widths, colalign=align)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column, whose header tabulate pads."""
    return [max(len(cells[0]) + 2, *map(len, cells[1:])) for cells in zip(columns, *rows, strict=True)]


def screen(subject: Subject, width: int) -> str:
    """Write all that is declared of one subject."""
    return "\n".join(_screen(subject, width))


def _screen(subject: Subject, width: int) -> Iterator[str]:
    summary = plain((inspect.getdoc(subject.declaration) or "").split("\n\n")[0])
    yield from textwrap.wrap(f"{subject.name}: {summary}", width)
    yield f"document: {source_of(subject)}"
    if isinstance(subject, RuleSubject):
        slots = subject.declaration.slots
        first = "" if starts_otherwise(subject) or not slots else ", zeros at first"
        yield f"slots: {', '.join(slots) or 'none'}{first}"
    rows = list(hyperparameter_rows(subject))
    if rows:
        columns = ("hyperparameter", "default", "must be", "meaning")
        room = max(width - sum(_widths(columns, rows)[:-1]) - 2 * len(columns), len("hyperparameter"))
        widths = [None, None, None, room]
        yield f"\n{tabulate(rows, columns, 'simple', disable_numparse=True, maxcolwidths=widths)}"
    yield f"\nformula:\n{textwrap.indent(formula_text(subject), '    ')}"
    for note in notes(subject, "Decision:", "Departure:"):
        yield ""
        yield from textwrap.wrap(plain(note), width)
    dialects = [(dialect.name, dialect.difference, dialect.origin) for dialect in DIALECTS.get(subject.name, ())]
    if not dialects:
        yield "\nknown dialects: none"
        return
    room = (width - 4 - max(len(name) for name, *_ in dialects)) // 2
    headers = ("known dialect", "what differs", "in")
    yield f"\n{tabulate(dialects, headers, 'simple', maxcolwidths=[None, room, room])}"


def hyperparameter_rows(subject: Subject) -> Iterator[Row]:
    """Yield name, default, domain and meaning of each hyperparameter, the learning rate first."""
    if isinstance(subject, RuleSubject):
        rate = subject.declaration.learning_rate
        yield LEARNING_RATE, REQUIRED if rate is None else str(rate), "given with each step", "the step size"
    for declared in subject.hyperparameters():
        default = REQUIRED if declared.default is None else str(declared.default)
        yield declared.name, default, declared.allowed, declared.meaning


def plain(text: str) -> str:
    """Write a docstring's sentences for a terminal: without roles, and formulas without backslashes."""
    text = re.sub(r":math:`([^`]*)`", r"\1", " ".join(text.split())).replace(r"\|", "|")
    return re.sub(r"\\([a-zA-Z]+)", r"\1", text).replace("`", "")
