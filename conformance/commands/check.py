"""Reads the options of ``optimetry check``."""

from __future__ import annotations

import argparse
from typing import Any

from optimetry.conformance.cases.effort import EFFORTS, EXHAUSTIVE
from optimetry.conformance.commands.arguments import (
    DEFAULT_DTYPES,
    OPTIMIZER_HELP,
    add_book,
    add_dtypes,
    add_effort,
    add_format,
    add_optimizers,
    add_search,
    add_seed,
    add_time_limit,
    add_workers,
    effort_of,
    named_path,
    search_of,
    seconds,
    seed_of,
    whole,
)
from optimetry.conformance.commands.checking import CheckPlan, run
from optimetry.conformance.commands.ci import add_reporting, reporting_of
from optimetry.conformance.commands.files import ledger
from optimetry.conformance.commands.files.results_folder import checked_folder
from optimetry.conformance.commands.workers.jobs import Task
from optimetry.conformance.commands.workers.launching import add_target, judged_as, launch_of
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import SUBJECTS, chosen_in
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.reference.errors import UsageError

DEFAULT_EFFORT = "standard"
ALL_EFFORTS = {**EFFORTS, EXHAUSTIVE.name: EXHAUSTIVE}

EXAMPLES = """\
TARGET is a built-in name (see `optimetry targets`), or module:object, where the object is a class, an instance or a
function that returns one; a module of the current directory is found. --optimizer and --dtype can be repeated.

examples:
  optimetry check torch --effort quick
  optimetry check mypackage.adapter:Target --optimizer adam --optimizer sgd --dtype bfloat16
  optimetry check torch --out results --expect expected.txt      verdicts listed in expected.txt do not fail
  optimetry check torch --seed random                            new cases, from a seed that is printed
  optimetry check torch --optimizer clip_by_global_norm          one of the wrappers
  optimetry check mypackage.adapter:Target --book torch --optimizer adamw     is it torch's AdamW?

exit status: 0 all that is offered conforms or was expected; 1 some is not, or a line of LEDGER no longer holds; 2 wrong
usage, a target or file that cannot be loaded or written, or nothing is offered and there is no LEDGER; 130 after
Ctrl-C."""


def add_check(commands: Any) -> None:
    """Add the command ``check`` to the subparsers of ``optimetry``."""
    check = commands.add_parser(
        "check",
        help="judge a target against the documented rules",
        description="Judge a target: every optimizer it offers, against the rule its document gives.",
        epilog=EXAMPLES,
    )
    add_target(check)
    add_optimizers(check, OPTIMIZER_HELP)
    add_book(check)
    check.add_argument(
        "--wrappers", action="store_true", help="also judge clips, regularizers, averages and compression"
    )
    add_dtypes(check)
    add_effort(
        check,
        DEFAULT_EFFORT,
        ALL_EFFORTS,
        "; exhaustive: those of thorough, and all pairs of a parameter and a gradient in the first step of elementwise "
        "rules in float16 and bfloat16",
    )
    add_seed(check)
    check.add_argument(
        "--out", type=named_path, metavar="DIR", help="write results.jsonl, tables and counterexamples to DIR"
    )
    check.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was ended: give its options again; the verdicts in DIR/results.jsonl are kept",
    )
    add_workers(check)
    check.add_argument(
        "--expect", type=named_path, metavar="LEDGER", help="expected verdicts: `optimizer dtype verdict[:name] reason`"
    )
    add_time_limit(check)
    add_search(check)
    add_format(check)
    add_reporting(check)
    check.set_defaults(command=check_command, again=" with --resume")


def check_command(options: argparse.Namespace) -> int:
    """Run ``optimetry check``."""
    launch = launch_of(options)
    optimizers = judged_as(launch.own, options.optimizer) or chosen_in(options.book, options.optimizer)
    if options.wrappers:
        optimizers = list(dict.fromkeys([*optimizers, *WRAPPERS]))
    dtypes = chosen("dtype", options.dtype or DEFAULT_DTYPES, FORMATS)
    task = Task(
        launch=launch,
        effort=effort_of(options.effort, ALL_EFFORTS),
        seed=seed_of(options.seed),
        time_limit=seconds("--time-limit", options.time_limit),
        search=search_of(options.search),
    )
    workers = whole("-n", options.n, 1)
    expected = ledger.read(options.expect, list(SUBJECTS), list(FORMATS)) if options.expect else ledger.Ledger()
    if options.resume and options.out is None:
        raise UsageError("--resume: needs --out, the folder of the run that was ended")
    reporting = reporting_of(options)
    return run(
        CheckPlan(
            task=task,
            optimizers=optimizers,
            dtypes=dtypes,
            workers=workers,
            ledger=expected,
            out=checked_folder(options.out),
            reporting=reporting,
            form=options.format,
            resume=options.resume,
        )
    )
