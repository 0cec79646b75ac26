"""Parses the numbers among the arguments of a command."""

from __future__ import annotations

import math
import secrets

from optimetry.reference.errors import UsageError


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
