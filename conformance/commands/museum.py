"""Adds ``optimetry museum``: judges real bugs of optimizers, rebuilt as targets, and writes the page about them."""

from __future__ import annotations

import argparse
from typing import Any

from optimetry.conformance.commands.arguments import add_effort, add_search, add_workers, named_path

EXAMPLES = """\
examples:
  optimetry museum                                   every bug: rejected, named, noticed by a usual test?
  optimetry museum --case optax-1130 --case keras-nonfused-eps
  optimetry museum --out docs                        and write the page
  optimetry museum --case optax-1130 --out docs      one of them anew, in the page that is there

exit status: 0 every bug is rejected, none is named wrongly, and what must be accepted is; 1 not so."""


def add_museum(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "museum",
        help="judge real bugs of optimizers, rebuilt as targets",
        description="Judge real bugs of optimizers from public trackers, each rebuilt as a target of a few lines, and "
        "correct optimizers that were reported as wrong.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--case", action="append", metavar="ID", help="one of them; can be repeated (default: all)")
    add_effort(parser, "quick")
    add_workers(parser)
    parser.add_argument(
        "--out", type=named_path, metavar="DIR", help="write museum.md, museum.svg and museum.jsonl to DIR"
    )
    add_search(parser)
    parser.set_defaults(command=museum_command)


def museum_command(options: argparse.Namespace) -> int:
    """Run ``optimetry museum``; all faults are imported for it, which other commands do without."""
    from optimetry.conformance.commands.museum_run import run

    return run(options)
