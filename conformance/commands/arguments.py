"""Parses the arguments that several commands have: numbers, the search, the format."""

from __future__ import annotations

import argparse
import math
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.numerics.formats import FORMATS as DTYPES
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import BOOK_HELP, DEFAULT_BOOK, chosen_in, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reference.errors import UsageError
from optimetry.reports.formats import FORMATS, TABLE

DEFAULT_DTYPES = ("float32", "float64")

OPTIMIZER_HELP = "a rule or a wrapper that `optimetry rules` lists, such as adam, torch.adamw or clip_by_norm"
"""The help of an option that names an optimizer."""

ELEMENTWISE = "a rule that treats elements one by one"
"""What an option must name where `is_elementwise` must hold."""

MOST_SECONDS = 1e6
"""The most seconds that an option may give, eleven days: the system's timers end not much later."""

MOST_DIGITS = 19
"""The most digits of a whole number, which is below 2^64 then."""


def whole(option: str, text: str, lowest: int, alternative: str = "") -> int:
    """Parse a whole number of at least ``lowest``.

    Raises:
        UsageError: the text is no such number; names the option and what is allowed, ``alternative`` included.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) >= lowest):
        also = f" {alternative}" if alternative else ""
        most = f" and at most {MOST_DIGITS} digits" if text.isdigit() and len(text) > MOST_DIGITS else ""
        raise UsageError(f"{option} = {text!r}, must be a whole number of at least {lowest}{most}{also}")
    return int(text)


def seed_of(text: str, option: str = "--seed") -> int:
    """Parse a seed: a whole number, or ``random`` for a new one.

    Raises:
        UsageError: the text is neither.
    """
    return secrets.randbelow(2**32) if text == "random" else whole(option, text, 0, "or `random`")


def named_path(text: str) -> Path:
    """Parse a path; an empty text, as of a variable that is not set, would be the present folder.

    Raises:
        ArgumentTypeError: the text is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return Path(text)


def seconds(option: str, text: str) -> float:
    """Parse a number of seconds above 0 and up to `MOST_SECONDS`.

    Raises:
        UsageError: the text is no such number.
    """
    number = _number(text)
    if not number > 0:
        raise UsageError(f"{option} = {text!r}, must be a number of seconds above 0")
    if number > MOST_SECONDS:
        raise UsageError(f"{option} = {text!r}, must be a number of seconds of at most {MOST_SECONDS:,.0f}")
    return number


def _number(text: str) -> float:
    """Parse a finite number; return NaN for any other text."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def is_rule(name: str) -> bool:
    """Return whether a subject is a rule, rather than a wrapper."""
    return isinstance(subject_named(name), RuleSubject)


def rules_in(
    book: str, asked: Sequence[str] | None, fits: Callable[[str], bool] = is_rule, kind: str = "a rule, no wrapper"
) -> list[str]:
    """Return the rules that are asked for, or those of a book that fit.

    Raises:
        UsageError: one that is asked for is unknown, or does not fit.
    """
    names = chosen_in(book, asked)
    for name in names if asked else ():
        if not fits(name):
            raise UsageError(f"--optimizer {name}: must be {kind}")
    return [name for name in names if fits(name)]


def is_elementwise(name: str) -> bool:
    """Return whether a subject is a rule that treats elements one by one."""
    return is_rule(name) and subject_named(name).elementwise


def add_optimizers(parser: argparse.ArgumentParser, meaning: str = "a rule, as for `optimetry check`") -> None:
    """Add the option ``--optimizer`` to a command."""
    parser.add_argument(
        "--optimizer",
        action="append",
        metavar="NAME",
        help=f"{meaning}; can be repeated (default: all rules of the book)",
    )


def add_book(parser: argparse.ArgumentParser, use: str = "whose document is the judge") -> None:
    """Add the option ``--book`` to a command."""
    text = BOOK_HELP.replace("whose document is the judge", use)
    parser.add_argument("--book", default=DEFAULT_BOOK, metavar="NAME", help=text)


def add_effort(parser: argparse.ArgumentParser, default: str, efforts: Iterable[str] = EFFORTS, more: str = "") -> None:
    """Add the option ``--effort`` to a command; ``more`` is what its help says behind the default."""
    text = f"how many cases (default {default}){more}"
    parser.add_argument("--effort", default=default, metavar="|".join(efforts), help=text)


def effort_of(name: str, efforts: Mapping[str, Effort] = EFFORTS) -> Effort:
    """Return the effort of a name; UsageError where there is none."""
    return efforts[chosen("effort", [name], efforts)[0]]


def add_seed(parser: argparse.ArgumentParser, subject: str = "the cases") -> None:
    """Add the option ``--seed`` to a command."""
    parser.add_argument("--seed", default="0", metavar="N", help=f"seed of {subject}, or `random` (default 0)")


def add_time_limit(parser: argparse.ArgumentParser, limited: str = "one run of the target may take") -> None:
    """Add the option ``--time-limit`` to a command."""
    parser.add_argument("--time-limit", default="60", metavar="S", help=f"seconds {limited} (default 60)")


def add_dtypes(
    parser: argparse.ArgumentParser,
    names: Iterable[str] = DTYPES,
    more: str = f"; can be repeated (default {' and '.join(DEFAULT_DTYPES)})",
) -> None:
    """Add the option ``--dtype`` to a command; ``more`` is what its help says behind the names."""
    parser.add_argument("--dtype", action="append", metavar="NAME", help=f"one of: {', '.join(names)}{more}")


def default_workers() -> int:
    """Return the number of worker processes where none is asked for: two, or one where there is one processor."""
    return min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the option ``-n`` to a command."""
    workers = default_workers()
    parser.add_argument(
        "-n", default=str(workers), metavar="WORKERS", help=f"number of worker processes (default {workers})"
    )


def add_search(parser: argparse.ArgumentParser, default: float = 0.0) -> None:
    """Add the option ``--search`` to a command."""
    parser.add_argument(
        "--search",
        default=f"{default:g}",
        metavar="SECONDS|off",
        help="where no known rule explains the target, search for a formula that does: a known one with one edit, then "
        f"for so many seconds of processor time with two to four; 0 tries one alone, off none (default {default:g})",
    )


def search_of(text: str) -> float | None:
    """Parse the argument of ``--search``: a number of seconds, which may be 0, or ``off``, which is None.

    Raises:
        UsageError: the text is neither.
    """
    if text == "off":
        return None
    number = _number(text)
    if not number >= 0:
        raise UsageError(f"--search = {text!r}, must be a number of seconds of at least 0 or `off`")
    return number


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--format`` to a command."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default=TABLE,
        help="what is printed: a table as wide as the terminal (default), Markdown, or JSON with every digit",
    )
