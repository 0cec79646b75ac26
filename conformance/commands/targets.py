"""Runs ``optimetry targets``: lists the built-in targets."""

from __future__ import annotations

import argparse
from typing import Any

from tabulate import tabulate

from optimetry.conformance.commands.text.terminal import terminal_width
from optimetry.conformance.targets.loading import (
    builtin_meaning,
    builtin_names,
    builtin_version,
    install_command,
    is_missing,
)

WIDEST = 70
"""The most columns of a description, however wide the terminal is."""


def add_targets(commands: Any) -> None:
    """Add the command ``targets`` to the subparsers of ``optimetry``."""
    text = "List the built-in targets, with the version that is installed or how to install it."
    status = "exit status: 0."
    targets = commands.add_parser("targets", help="list the built-in targets", description=text, epilog=status)
    targets.set_defaults(command=targets_command)


def targets_command(options: argparse.Namespace) -> int:
    """Run ``optimetry targets``: list the built-in targets, without importing any framework."""
    rows = [(name, builtin_version(name), builtin_meaning(name)) for name in builtin_names()]
    columns = ("target", "version", "description")
    room = terminal_width() - sum(max(map(len, column)) + 2 for column in list(zip(columns, *rows, strict=True))[:2])
    print(tabulate(rows, columns, "simple", disable_numparse=True, maxcolwidths=[None, None, min(WIDEST, room)]))
    missing = [(f"  {name}", install_command(name)) for name in builtin_names() if is_missing(name)]
    if missing:
        print("\nTo install, unless --python names an interpreter that has it:")
        print(tabulate(missing, tablefmt="plain", disable_numparse=True, preserve_whitespace=True))
    print("\nYour own: `optimetry check module:object`, see `optimetry check --help`.")
    return 0
