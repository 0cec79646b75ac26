"""Parses the command ``optimetry``. Usage is checked in full before anything is written; main() returns the status.

A command is imported when it is called: who checks an optimizer waits for no campaign and no benchmark.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn

from tabulate import tabulate

from optimetry.conformance.cases.effort import EFFORTS, EXHAUSTIVE
from optimetry.conformance.commands import ledger
from optimetry.conformance.commands.arguments import (
    DEFAULT_DTYPES,
    OPTIMIZER_HELP,
    add_dtypes,
    add_format,
    add_search,
    add_workers,
    search_of,
    seconds,
    seed_of,
    whole,
)
from optimetry.conformance.commands.check import Check, checked_folder, run
from optimetry.conformance.commands.ci import add_reporting, annotation, reporting_of
from optimetry.conformance.commands.jobs import Task
from optimetry.conformance.commands.launching import add_target, judged_as, launch_of, split
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import BOOK_HELP, DEFAULT_BOOK, SUBJECTS, chosen_in
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.loading import builtin_meaning, builtin_names, builtin_version
from optimetry.reference.errors import OptimetryError, UsageError
from optimetry.reports.results import ResultsError

DEFAULT_EFFORT = "standard"
CHECK_EFFORTS = {**EFFORTS, EXHAUSTIVE.name: EXHAUSTIVE}
DEFAULT_SEED = 0
DEFAULT_SEARCH = 0.0

EXAMPLES = """\
examples:
  optimetry check numpy --effort quick                     our own reference, which must conform
  optimetry check torch --optimizer adam --dtype float32   one optimizer of an installed framework
  optimetry check torch --book torch                       against torch's own document in place of fluid's
  optimetry check optax --book papers                      against the original publications
  optimetry check mypackage.adapter:Target --out results   your own, with counterexamples to keep
  optimetry check torch:mypackage.MyAdam --as adam         a class of yours, as one rule (docs/your-own-class.md)
  optimetry check -- node harness.js                       a program in any language (docs/another-language.md)
  optimetry targets                                        the built-in targets
  optimetry rules adam                                     what is documented of one optimizer; without a name, all
  optimetry accuracy adapter:MyTarget --optimizer adam     how far it drifts from the rule in ten thousand steps
  optimetry certify torch --optimizer adam --blocks 8      every pair of a parameter and a gradient, or a share
  optimetry campaign torch --scheduler local --out results  all that, as tasks of a cluster of Dask
  optimetry bench adapter:MyTarget --optimizer adam        how fast, beside our backend and the speed of memory
  optimetry report results --out page                      tables from kept results
  optimetry report results others --site site              pages to look at: open site/index.html

exit status: 0 all that is offered conforms or was expected; 1 some is not; 2 wrong usage, or a target or file that
cannot be loaded."""

CHECK_EXAMPLES = """\
TARGET is a built-in name (see `optimetry targets`), or module:object, where the object is a class, an instance or a
function that returns one; a module of the current directory is found. --optimizer and --dtype can be repeated.

examples:
  optimetry check torch --effort quick
  optimetry check mypackage.adapter:Target --optimizer adam --optimizer sgd --dtype bfloat16
  optimetry check torch --out results --expect expected.txt      verdicts listed in expected.txt do not fail
  optimetry check torch --seed random                            new cases, from a seed that is printed
  optimetry check torch --optimizer clip_by_global_norm          one of the wrappers
  optimetry check mypackage.adapter:Target --book torch --optimizer adamw     is it torch's AdamW?"""


class Help(argparse.RawDescriptionHelpFormatter):
    """Breaks a text of one line where the terminal ends; keeps the lines of any other, such as examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text.strip():
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors as `UsageError`, in one line, and takes no abbreviated option."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "formatter_class": Help, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Raise an error that argparse would print before it exits."""
        raise UsageError(f"{message} (try `{self.prog} --help`)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as `argparse` does, but refuse those that are unknown here, where the options are known."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = self._option_string_actions
            words = (word.partition("=")[0] for word in unknown)
            near = [other for word in words for other in difflib.get_close_matches(word, known, n=1, cutoff=0.75)]
            hint = f"; did you mean {' '.join(near)}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options, unknown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1, 2, or 130 after Ctrl-C."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a dash that the terminal cannot show must not fail the run
    options = None
    try:
        own, program = split(sys.argv[1:] if arguments is None else arguments)
        options = parser(own[0] if own and own[0] in COMMANDS else None).parse_args(own)
        options.program = program
        status: int = options.command(options)
        sys.stdout.flush()
    except (OptimetryError, ResultsError) as error:
        if options is not None and getattr(options, "github", False):
            print(annotation(str(error), title="optimetry"))
        print(f"optimetry: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("optimetry: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status


def parser(command: str | None = None) -> Parser:
    """Build the parser of the command line; of one command alone where it is named, so that no other is imported."""
    top = Parser(
        prog="optimetry",
        description="Does an optimizer compute what its document says, to the last rounding error?",
        epilog=EXAMPLES,
    )
    top.add_argument("--version", action="version", version=f"optimetry {metadata.version('optimetry')}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, where in COMMANDS.items():
        if command in (None, name):
            resolve_name(f"{__package__}.{where}")(commands)
    return top


def add_check(commands: Any) -> None:
    """Add the command ``check`` to the subparsers of ``optimetry``."""
    check = commands.add_parser(
        "check",
        help="judge a target against the documented rules",
        description="Judge a target: every optimizer it offers, against the rule its document gives.",
        epilog=CHECK_EXAMPLES,
    )
    add_target(check)
    check.add_argument(
        "--optimizer",
        action="append",
        metavar="NAME",
        help=f"{OPTIMIZER_HELP}; can be repeated (default: all rules of the book)",
    )
    check.add_argument("--book", default=DEFAULT_BOOK, metavar="NAME", help=BOOK_HELP)
    check.add_argument(
        "--wrappers", action="store_true", help="also judge clips, regularizers, averages and compression"
    )
    add_dtypes(check)
    check.add_argument(
        "--effort",
        default=DEFAULT_EFFORT,
        metavar="|".join(CHECK_EFFORTS),
        help=f"how many cases (default {DEFAULT_EFFORT}); exhaustive: those of thorough, and all pairs of a "
        "parameter and a gradient in the first step of elementwise rules in float16 and bfloat16",
    )
    check.add_argument(
        "--seed",
        default=str(DEFAULT_SEED),
        metavar="N",
        help=f"seed of the cases, or `random` (default {DEFAULT_SEED})",
    )
    check.add_argument("--out", type=Path, metavar="DIR", help="write results.jsonl, tables and counterexamples to DIR")
    check.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was ended: give its options again; the verdicts in DIR/results.jsonl are kept",
    )
    add_workers(check)
    check.add_argument(
        "--expect", type=Path, metavar="LEDGER", help="expected verdicts: `optimizer dtype verdict[:name] reason`"
    )
    check.add_argument(
        "--time-limit", default="60", metavar="S", help="seconds one run of the target may take (default 60)"
    )
    add_search(check, DEFAULT_SEARCH)
    add_format(check)
    add_reporting(check)
    check.set_defaults(command=check_command)


def add_targets(commands: Any) -> None:
    """Add the command ``targets`` to the subparsers of ``optimetry``."""
    text = "List the built-in targets, with the version that is installed or how to install it."
    targets = commands.add_parser("targets", help="list the built-in targets", description=text)
    targets.set_defaults(command=targets_command)


COMMANDS = {
    "check": "cli:add_check",
    "diagnose": "diagnose:add_diagnose",
    "targets": "cli:add_targets",
    "rules": "rules:add_rules",
    "accuracy": "accuracy:add_accuracy_command",
    "bench": "bench:add_bench",
    "certify": "certify:add_certify",
    "campaign": "campaigns.command:add_campaign",
    "harness": "harness:add_harness",
    "report": "report:add_report",
    "vectors": "vectors:add_vectors",
    "museum": "museum:add_museum",
}
"""The module and the function that add each command to the parser."""


def check_command(options: argparse.Namespace) -> int:
    """Run ``optimetry check``."""
    launch = launch_of(options)
    optimizers = judged_as(launch, options.optimizer) or chosen_in(options.book, options.optimizer)
    if options.wrappers:
        optimizers = list(dict.fromkeys([*optimizers, *WRAPPERS]))
    dtypes = chosen("dtype", options.dtype or DEFAULT_DTYPES, FORMATS)
    (effort,) = chosen("effort", [options.effort], CHECK_EFFORTS)
    task = Task(
        launch=launch,
        effort=CHECK_EFFORTS[effort],
        seed=seed_of(options.seed),
        time_limit=seconds("--time-limit", options.time_limit),
        search=search_of(options.search),
    )
    workers = whole("-n", options.n, 1)
    expected = ledger.read(options.expect, list(SUBJECTS), list(FORMATS)) if options.expect else ledger.Ledger()
    if options.out is not None:
        checked_folder(options.out)
    elif options.resume:
        raise UsageError("--resume: needs --out, the folder of the run that was ended")
    reporting = reporting_of(options)
    return run(
        Check(task, optimizers, dtypes, workers, expected, options.out, reporting, options.format, options.resume)
    )


def targets_command(options: argparse.Namespace) -> int:
    """Run ``optimetry targets``: list the built-in targets, without importing any framework."""
    rows = [(name, builtin_version(name), builtin_meaning(name)) for name in builtin_names()]
    columns = ("target", "version", "description")
    print(tabulate(rows, columns, "simple", disable_numparse=True, maxcolwidths=[None, 30, 70]))
    print("\nYour own: `optimetry check module:object`, see `optimetry check --help`.")
    return 0
