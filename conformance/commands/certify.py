"""Runs ``optimetry certify``: compares a target with a rule on all pairs of a parameter and a gradient."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from dataclasses import asdict
from typing import Any

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.certify.pairs import DTYPES, MOST
from optimetry.conformance.commands.arguments import (
    ELEMENTWISE,
    add_book,
    add_dtypes,
    add_optimizers,
    add_seed,
    add_time_limit,
    add_workers,
    is_elementwise,
    named_path,
    rules_in,
    seconds,
    seed_of,
    whole,
)
from optimetry.conformance.commands.certifying import Certification, certified, judges_of, print_certificates
from optimetry.conformance.commands.files.blocks import FILE, Blocks
from optimetry.conformance.commands.files.held import held
from optimetry.conformance.commands.files.results_folder import checked_folder, write_tables, writing
from optimetry.conformance.commands.text.terminal import counted
from optimetry.conformance.commands.workers.jobs import Task
from optimetry.conformance.commands.workers.launching import add_target, judged_as, launch_of
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.reference.errors import UsageError
from optimetry.reports.certificate import Certificate
from optimetry.reports.header import header_of
from optimetry.reports.keeping import add, check_fits
from optimetry.reports.results import Results, file_of, read

EXAMPLES = """\
examples:
  optimetry certify torch --book torch --optimizer adamw --engine single --out results
  optimetry certify accelerated --optimizer adam --dtype float16 --corners --out results
  optimetry certify adapter:MyTarget --optimizer sgd --blocks 8       a drawn share: 8 of 4,096 blocks

With --out, the same command again goes on where a run was interrupted or killed.

exit status: 0 every pair of which something can be said is within the slack; 1 some is not;
2 wrong usage, a target or file that cannot be loaded, or nothing is offered."""


def add_certify(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "certify",
        help="compare a target with a rule on every pair of a parameter and a gradient",
        description="Compare a target with elementwise rules on all 65,536 x 65,536 pairs of a parameter and a "
        "gradient in the first step, and on all gradients with drawn states in later steps; in float32, on all "
        "gradients with drawn parameters and states.",
        epilog=EXAMPLES,
    )
    add_target(parser)
    add_optimizers(parser, "an elementwise rule, as for `optimetry check`")
    add_book(parser)
    add_dtypes(parser, DTYPES, f" (default {DTYPES[0]})")
    parser.add_argument("--engine", action="append", metavar="NAME", help="an engine of the target (default: all)")
    parser.add_argument(
        "--corners", action="store_true", help="also at corners of the hyperparameters, not at the defaults alone"
    )
    parser.add_argument("--blocks", metavar="N", help="a drawn share: so many blocks of about a million pairs each")
    add_seed(parser, "the drawn states and of the share")
    add_workers(parser)
    add_time_limit(parser, "the target may take for a block")
    parser.add_argument(
        "--out", type=named_path, metavar="DIR", help="add to DIR/results.jsonl, and write tables there"
    )
    parser.set_defaults(command=certify_command, again="")


def certify_command(options: argparse.Namespace) -> int:
    """Run ``optimetry certify``; the status is 1 where a certificate does not hold, or there is none."""
    launch = launch_of(options)
    asked = judged_as(launch.own, options.optimizer) or options.optimizer
    rules = rules_in(options.book, asked, is_elementwise, ELEMENTWISE)
    dtypes = chosen("dtype", options.dtype or [DTYPES[0]], DTYPES, elsewhere=FORMATS)
    blocks = None if options.blocks is None else whole("--blocks", options.blocks, 1)
    if blocks is not None and blocks > MOST:
        raise UsageError(f"--blocks = {blocks}, must be at most {MOST}, which is all; leave it out for all")
    seed, count = seed_of(options.seed), whole("-n", options.n, 1)
    task = Task(launch, EFFORTS["quick"], seed, seconds("--time-limit", options.time_limit))
    checked_folder(options.out)
    judges = judges_of(rules, dtypes, seed, options.corners)
    with Workers(task, count) as workers, held(options.out):
        target = workers.loaded
        engines = {name: target.engines.index(name) for name in chosen("engine", options.engine, target.engines)}
        certification = Certification(judges, engines, blocks)
        header = header_of(target.name, target.version, dtypes=dtypes, optimizers=rules, seed=seed, effort="none")
        run = {**asdict(header), "engines": list(engines), "blocks": blocks, "corners": options.corners}
        if options.out is not None:
            check_fits(options.out / "results.jsonl", header)
        refusals: list[str] = []
        began, certificates = time.monotonic(), list[Certificate]()
        unfinished = None if options.out is None else options.out / FILE
        with writing(options.out), closing(Blocks(unfinished, run)) as kept:
            before = kept.pairs
            try:
                certificates.extend(certified(certification, workers, kept, refusals))
            finally:  # where the run is ended, what is known is written
                if options.out is not None and certificates:
                    add(options.out / "results.jsonl", Results(header, certificates=certificates))
            kept.end()
        if options.out is not None and certificates:
            write_tables(options.out, [read(options.out / "results.jsonl")])
    print_certificates(header, certificates, refusals)
    compared = sum(each.pairs for each in certificates) - before
    print(f"\n{compared:,} pairs compared in {time.monotonic() - began:,.0f} s by {counted(count, 'worker')}")
    if options.out is not None and certificates:
        print(f"written: {file_of(options.out)}, certificates.md, certificates.csv")
    return 2 if not certificates else 0 if all(each.holds for each in certificates) else 1
