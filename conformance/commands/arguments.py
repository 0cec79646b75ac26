"""Parses the arguments that several commands have: numbers, the search, the format."""

from __future__ import annotations

import argparse
import math
import os
import secrets

from optimetry.conformance.numerics.formats import FORMATS as DTYPES
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reference.errors import UsageError
from optimetry.reports.formats import FORMATS, TABLE

DEFAULT_DTYPES = ("float32", "float64")

OPTIMIZER_HELP = "a rule or a wrapper that `optimetry rules` lists, such as adam, torch.adamw or clip_by_norm"
"""What the option that names an optimizer is for."""


def whole(option: str, text: str, lowest: int, alternative: str = "") -> int:
    """Parse a whole number of at least ``lowest``.

    Raises:
        UsageError: the text is no such number; names the option and what is allowed, ``alternative`` included.
    """
    if not (text.isascii() and text.isdigit() and int(text) >= lowest):
        also = f" {alternative}" if alternative else ""
        raise UsageError(f"{option} = {text!r}, must be a whole number of at least {lowest}{also}")
    return int(text)


def seed_of(text: str) -> int:
    """Parse the argument of ``--seed``: a whole number, or ``random`` for a new one.

    Raises:
        UsageError: the text is neither.
    """
    return secrets.randbelow(2**32) if text == "random" else whole("--seed", text, 0, "or `random`")


def seconds(option: str, text: str) -> float:
    """Parse a number of seconds above 0.

    Raises:
        UsageError: the text is no such number.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise UsageError(f"{option} = {text!r}, must be a number of seconds above 0")
    return number


def elementwise_rule(name: str) -> RuleSubject:
    """Return an elementwise rule.

    Raises:
        UsageError: it is none.
    """
    subject = subject_named(name)
    if not isinstance(subject, RuleSubject) or not subject.elementwise:
        raise UsageError(f"--optimizer {name}: must be a rule that treats elements one by one")
    return subject


def add_dtypes(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--dtype`` to a command that judges in `DEFAULT_DTYPES` where none is named."""
    parser.add_argument(
        "--dtype",
        action="append",
        metavar="NAME",
        help=f"one of: {', '.join(DTYPES)}; can be repeated (default {' and '.join(DEFAULT_DTYPES)})",
    )


def default_workers() -> int:
    """Return the number of worker processes where none is asked for: two, or one where there is one processor."""
    return min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the option ``-n`` to a command."""
    workers = default_workers()
    parser.add_argument(
        "-n", default=str(workers), metavar="WORKERS", help=f"number of worker processes (default {workers})"
    )


def add_search(parser: argparse.ArgumentParser, default: float) -> None:
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
    try:
        return 0.0 if float(text) == 0 else seconds("--search", text)
    except ValueError:
        raise UsageError(f"--search = {text!r}, must be a number of seconds or `off`") from None


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--format`` to a command."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default=TABLE,
        help="what is printed: a table as wide as the terminal (default), Markdown, or JSON with every digit",
    )
