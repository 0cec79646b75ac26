"""Runs ``optimetry targets``: lists the built-in targets."""

from __future__ import annotations

import argparse
from typing import Any

from tabulate import tabulate

from optimetry.conformance.targets.loading import builtin_meaning, builtin_names, builtin_version


def add_targets(commands: Any) -> None:
    """Add the command ``targets`` to the subparsers of ``optimetry``."""
    text = "List the built-in targets, with the version that is installed or how to install it."
    targets = commands.add_parser("targets", help="list the built-in targets", description=text)
    targets.set_defaults(command=targets_command)


def targets_command(options: argparse.Namespace) -> int:
    """Run ``optimetry targets``: list the built-in targets, without importing any framework."""
    rows = [(name, builtin_version(name), builtin_meaning(name)) for name in builtin_names()]
    columns = ("target", "version", "description")
    print(tabulate(rows, columns, "simple", disable_numparse=True, maxcolwidths=[None, 30, 70]))
    print("\nYour own: `optimetry check module:object`, see `optimetry check --help`.")
    return 0
