"""Runs ``optimetry harness check``, which plays a session with a program and says what is wrong with each answer."""

from __future__ import annotations

import argparse
from typing import Any

from optimetry.conformance.commands.arguments import seconds
from optimetry.conformance.commands.launching import PROGRAM, memory_of, program_of
from optimetry.conformance.commands.rehearsal import Rehearsal
from optimetry.conformance.commands.words import counted
from optimetry.conformance.harness.program import Program
from optimetry.reference.errors import UsageError

EXAMPLES = """\
examples:
  optimetry harness check -- node harness.js
  optimetry harness check --time-limit 60 -- java -jar harness.jar

exit status: 0 every answer is as the protocol says; 1 some is not; 2 wrong usage.
Whether the optimizers are right is for `optimetry check`; docs/protocol.md has every message."""


def add_harness(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    harness = commands.add_parser(
        "harness",
        help="check that a program speaks the protocol",
        description="Play a session with a program, and say what is wrong with its answers.",
        epilog=EXAMPLES,
    )
    harness.add_argument("action", choices=["check"], help=f"play a session with a program: {PROGRAM}")
    harness.add_argument("--time-limit", default="10", metavar="S", help="seconds one answer may take (default 10)")
    harness.add_argument("--memory-limit", metavar="SIZE", help="memory that it may hold, such as 512M or 8G")
    harness.set_defaults(command=harness_command)


def harness_command(options: argparse.Namespace) -> int:
    """Run ``optimetry harness check``."""
    if not options.program:
        raise UsageError(f"no program: {PROGRAM}")
    limit, memory = seconds("--time-limit", options.time_limit), memory_of(options.memory_limit)
    program = Program(program_of(options.program), memory=memory)
    try:
        answers = wrong = 0
        for finding in Rehearsal(program, limit).played():
            answers, wrong = answers + 1, wrong + bool(finding.problems)
            print(f"{'WRONG' if finding.problems else 'ok   '}  {finding.what}{finding.note and ': '}{finding.note}")
            for problem in finding.problems:
                print(f"       {problem}")
    finally:
        program.end()
    print(f"\n{counted(answers, 'answer')}, {f'{wrong} wrong' if wrong else 'all as the protocol says'}")
    return 1 if wrong else 0
