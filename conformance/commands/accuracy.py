"""Runs ``optimetry accuracy``: measures how far a target drifts from the documented rule at the defaults."""

from __future__ import annotations

import argparse
import textwrap
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from optimetry.conformance.cases.ordinary import KINDS
from optimetry.conformance.commands.arguments import (
    DEFAULT_DTYPES,
    add_book,
    add_dtypes,
    add_optimizers,
    add_time_limit,
    named_path,
    rules_in,
    seconds,
    whole,
)
from optimetry.conformance.commands.files.held import held
from optimetry.conformance.commands.files.results_folder import checked_folder, write_tables, writing
from optimetry.conformance.commands.text.terminal import NONE_OFFERED, filled, terminal_width
from optimetry.conformance.commands.workers.launching import add_target, judged_as, launch_of
from optimetry.conformance.commands.workers.playing import playing
from optimetry.conformance.harness.python_harness import engine_name, engines_of
from optimetry.conformance.judging.accuracy import STEPS, accuracy
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault, UsageError
from optimetry.reports import accuracy_tables
from optimetry.reports.accuracy import Accuracy
from optimetry.reports.header import header_of
from optimetry.reports.keeping import add, check_fits
from optimetry.reports.results import Header, Results, read

EXAMPLES = """\
examples:
  optimetry accuracy torch --optimizer adam
  optimetry accuracy adapter:MyTarget --book torch --optimizer adamw --dtype float32
  optimetry accuracy torch:mypackage.MyAdam --as torch.adam         a class of yours, as one rule
  optimetry accuracy -- node harness.js                             a program in any language
  optimetry check torch --out results && optimetry accuracy torch --out results      both in one results file
  optimetry accuracy torch --book all --out results --resume      goes on where a long run was ended

A slow target takes --steps 1000.

exit status: 0 every run was measured; 1 a run failed; 2 wrong usage, a target or file that cannot be loaded or written,
or no rule is offered."""


BETWEEN = 20.0
"""Seconds after which a long run keeps what it has measured, so that it can be resumed."""


def add_accuracy_command(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "accuracy",
        help="measure the error of a target's updates over the steps of ordinary runs",
        description="Run a target at the documented defaults beside the documented rule in wide precision: on N(0, 1) "
        "gradients, and on those of a small model while it is trained.",
        epilog=EXAMPLES,
    )
    add_target(parser)
    add_optimizers(parser)
    add_book(parser)
    add_dtypes(parser)
    parser.add_argument(
        "--steps", default=str(STEPS[-1]), metavar="N", help=f"length of a run, at most {STEPS[-1]} (default)"
    )
    add_time_limit(parser, "a hundred steps of the target may take")
    parser.add_argument(
        "--out", type=named_path, metavar="DIR", help="add to DIR/results.jsonl, and write tables there"
    )
    parser.add_argument(
        "--resume", action="store_true", help="do not measure again what DIR/results.jsonl has of as many steps"
    )
    parser.set_defaults(command=accuracy_command, again=" with --resume")


def accuracy_command(options: argparse.Namespace) -> int:
    """Run ``optimetry accuracy``; the status is 1 where a run fails, and 2 where no rule is offered."""
    launch = launch_of(options)
    rules = rules_in(options.book, judged_as(launch.own, options.optimizer) or options.optimizer)
    dtypes = chosen("dtype", options.dtype or DEFAULT_DTYPES, FORMATS)
    steps = whole("--steps", options.steps, 1)
    if steps > STEPS[-1]:
        raise UsageError(f"--steps = {steps}, must be at most {STEPS[-1]}")
    if options.resume and options.out is None:
        raise UsageError("--resume: needs --out, the folder of the run to resume")
    guard = Guard(seconds("--time-limit", options.time_limit))
    folder = checked_folder(options.out)
    with playing(launch, guard) as target, held(folder):
        return _measure(target, rules, dtypes, steps, guard, folder, options.resume)


def _measure(
    target: Target, rules: list[str], dtypes: list[str], steps: int, guard: Guard, folder: Path | None, resume: bool
) -> int:
    """Measure a target, print and write the results; return the exit status."""
    kept = None if folder is None else folder / "results.jsonl"
    header = header_of(target.name, str(target.version), dtypes=dtypes, optimizers=rules, seed=0, effort="none")
    if kept is not None:
        check_fits(kept, header)
    runs = [MeasuredRun(*each, steps) for each in product(dtypes, rules, KINDS)]
    measured: list[Accuracy] = []
    failed: list[str] = []
    due = time.monotonic() + BETWEEN
    for measurements in _each_measured(target, runs, guard, _known(kept, header) if resume else [], failed):
        measured += measurements
        if kept is not None and time.monotonic() > due:
            with writing(folder):
                add(kept, Results(header, accuracy=measured))
            due = time.monotonic() + BETWEEN
    if note := getattr(target, "note", ""):
        print(f"{filled(note)}\n")
    print(f"{target.name} {target.version}, {steps:,} steps at the documented defaults.\n")
    if measured:
        print(f"{accuracy_tables.terminal(measured, terminal_width())}\n")
        print(textwrap.fill(accuracy_tables.LEGEND.replace("*", ""), terminal_width()))
    else:
        print(NONE_OFFERED if not failed else "nothing could be measured")
    print(*(f"\nfailed: {text}" for text in failed), sep="", end="\n" if failed else "")
    if folder is not None and kept is not None and measured:
        with writing(folder):
            add(kept, Results(header, accuracy=measured))
        write_tables(folder, [read(kept)])
        print(f"\nwritten: {kept}, accuracy.md, accuracy.csv")
    return 1 if failed else 0 if measured else 2


class MeasuredRun(NamedTuple):
    """A run that is measured on each engine of a target.

    Attributes:
        dtype: of the parameters.
        rule: its name.
        gradients: their kind.
        steps: how many.
    """

    dtype: str
    rule: str
    gradients: str
    steps: int


def _known(file: Path | None, header: Header) -> list[Accuracy]:
    """Read a target's measurements from a results file; none from one of another target or version."""
    if file is None or not file.exists():
        return []
    results = read(file)
    return results.accuracy if results.header.about == header.about else []


def _each_measured(
    target: Target, runs: Sequence[MeasuredRun], guard: Guard, known: Sequence[Accuracy], failed: list[str]
) -> Iterator[list[Accuracy]]:
    """Yield the measurements of all engines, run by run; the faults of those that fail are added to a list."""
    long_enough = {each.about: each for each in known if each.points[-1].step == runs[0].steps}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a target's, such as about its own defaults
        for run in tqdm(runs, unit="run", leave=False, disable=None):
            measurements = []
            for engine in engines_of(target):
                name = engine_name(engine)
                try:
                    measurement = long_enough.get((run.rule, run.dtype, name, run.gradients)) or accuracy(
                        engine, run.rule, run.dtype, run.gradients, run.steps, guard
                    )
                except TargetFault as fault:
                    failed.append(f"{run.rule} {run.dtype} (engine {name}, {run.gradients} gradients): {fault}")
                    continue
                if measurement is not None:
                    measurements.append(measurement)
            yield measurements
