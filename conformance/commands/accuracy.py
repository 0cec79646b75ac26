"""Runs ``optimetry accuracy``: measures how far a target drifts from the documented rule at the defaults."""

from __future__ import annotations

import argparse
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from optimetry.conformance.cases.ordinary import KINDS
from optimetry.conformance.commands.arguments import seconds, whole
from optimetry.conformance.commands.check import checked_folder, header_of, write_tables
from optimetry.conformance.commands.terminal import terminal_width
from optimetry.conformance.judging.accuracy import STEPS, accuracy
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.books import BOOK_HELP, DEFAULT_BOOK, chosen_in
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.protocol import Target, engine_name, engines_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault, UsageError
from optimetry.reports import accuracy_tables
from optimetry.reports.accuracy import Accuracy
from optimetry.reports.keeping import add
from optimetry.reports.results import file_of, read

EXAMPLES = """\
examples:
  optimetry accuracy torch --optimizer adam
  optimetry accuracy adapter:MyTarget --book torch --optimizer adamw --dtype float32
  optimetry check torch --out results && optimetry accuracy torch --out results      both in one results file

A slow target takes --steps 1000."""


def add_accuracy_command(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "accuracy",
        help="measure the error of a target's updates over the steps of ordinary runs",
        description="Run a target at the documented defaults beside the documented rule in wide precision: on N(0, 1) "
        "gradients, and on those of a small model while it is trained.",
        epilog=EXAMPLES,
    )
    parser.add_argument("target", metavar="TARGET", help="a built-in name, or module:object")
    parser.add_argument("--optimizer", action="append", metavar="NAME", help="a rule, as for `optimetry check`")
    parser.add_argument("--book", default=DEFAULT_BOOK, metavar="NAME", help=BOOK_HELP)
    parser.add_argument(
        "--dtype", action="append", metavar="NAME", help=f"one of: {', '.join(FORMATS)}; default float32 and float64"
    )
    parser.add_argument(
        "--steps", default=str(STEPS[-1]), metavar="N", help=f"length of a run, at most {STEPS[-1]} (default)"
    )
    parser.add_argument(
        "--time-limit", default="60", metavar="S", help="seconds a hundred steps of the target may take (default 60)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="add to DIR/results.jsonl, and write tables there")
    parser.set_defaults(command=accuracy_command)


def accuracy_command(options: argparse.Namespace) -> int:
    """Run ``optimetry accuracy``; the status is 1 where a run fails, or none of the rules is offered."""
    rules = [name for name in chosen_in(options.book, options.optimizer) if _is_rule(name)]
    dtypes = chosen("dtype", options.dtype or ["float32", "float64"], FORMATS)
    steps = whole("--steps", options.steps, 1)
    if not rules or steps > STEPS[-1]:
        raise UsageError(
            f"--steps = {steps}, must be at most {STEPS[-1]}" if rules else "--optimizer: must name a rule, no wrapper"
        )
    guard = Guard(seconds("--time-limit", options.time_limit))
    if options.out is not None:
        checked_folder(options.out)
    target = load_target(options.target)
    failed: list[str] = []
    measured = list(_measured(target, rules, dtypes, steps, guard, failed))
    print(f"{target.name} {target.version}, {steps:,} steps at the documented defaults.\n")
    if measured:
        print(f"{accuracy_tables.terminal(measured, terminal_width())}\n")
        print(textwrap.fill(accuracy_tables.LEGEND.replace("*", ""), terminal_width()))
    else:
        print("none of the rules asked for is offered" if not failed else "nothing could be measured")
    print(*(f"\nfailed: {text}" for text in failed), sep="", end="\n" if failed else "")
    if options.out is not None and measured:
        keep(options.out, target, dtypes, rules, measured)
        print(f"\nwritten: {file_of(options.out)}, accuracy.md, accuracy.csv")
    return 1 if failed or not measured else 0


def keep(folder: Path, target: Target, dtypes: list[str], rules: list[str], measured: list[Accuracy]) -> None:
    """Add measurements to the results in a folder, and write the tables of all that are there.

    Raises:
        UsageError: it cannot be written.
        ResultsError: it holds results of something else.
    """
    file = folder / "results.jsonl"
    header = header_of(target.name, str(target.version), dtypes=dtypes, optimizers=rules, seed=0, effort="none")
    try:
        add(file, header, accuracy=measured)
    except OSError as error:
        raise UsageError(f"--out {folder}: {error.strerror or error}") from error
    write_tables(folder, [read(file)])


def _is_rule(name: str) -> bool:
    return isinstance(subject_named(name), RuleSubject)


def _measured(
    target: Target, rules: list[str], dtypes: list[str], steps: int, guard: Guard, failed: list[str]
) -> Iterator[Accuracy]:
    """Yield what each engine gives; the faults of those that fail are added to a list."""
    jobs = [(rule, dtype, gradients) for rule in rules for dtype in dtypes for gradients in KINDS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a target's, such as about its own defaults
        for rule, dtype, gradients in tqdm(jobs, unit="run", leave=False, disable=not sys.stderr.isatty()):
            for engine in engines_of(target):
                try:
                    found = accuracy(engine, rule, dtype, gradients, steps, guard)
                except TargetFault as fault:
                    failed.append(f"{rule} {dtype} (engine {engine_name(engine)}): {fault}")
                    continue
                if found is not None:
                    yield found
