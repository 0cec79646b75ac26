"""Runs ``optimetry diagnose``, which explains how a target departs from its document."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from optimetry.conformance.commands.arguments import (
    DEFAULT_DTYPES,
    OPTIMIZER_HELP,
    add_book,
    add_dtypes,
    add_effort,
    add_search,
    add_seed,
    add_time_limit,
    effort_of,
    search_of,
    seconds,
    seed_of,
)
from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.commands.text.progress import ending_searches, progress_bar
from optimetry.conformance.commands.text.terminal import terminal_width
from optimetry.conformance.commands.workers.jobs import Job, Task
from optimetry.conformance.commands.workers.launching import add_target, judged_as, launch_of
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.conformance.judging.diagnose import Diagnosis
from optimetry.conformance.naming.search.budget import SEARCH_SECONDS
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import chosen_in
from optimetry.conformance.targets.loading import version_note
from optimetry.reference.errors import UsageError

EXAMPLES = """\
examples:
  optimetry diagnose torch --optimizer adam
  optimetry diagnose mypackage.adapter:Target --optimizer lamb --dtype float64

exit status: 0 it conforms, as far as it is offered; 1 it does not; 2 wrong usage, the target cannot be loaded, or
nothing is offered; 130 after Ctrl-C, which ends a search and reports what it has found."""

DEFAULT_EFFORT = "quick"


def add_diagnose(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "diagnose",
        help="explain how a target departs from its document",
        description="Explain one optimizer of a target: which rule it computes, where it first departs from its "
        "document and by how much, with the smallest case that shows it.",
        epilog=EXAMPLES,
    )
    add_target(parser)
    parser.add_argument("--optimizer", action="append", metavar="NAME", help=OPTIMIZER_HELP)
    add_book(parser)
    add_dtypes(parser)
    add_effort(parser, DEFAULT_EFFORT)
    add_seed(parser)
    add_time_limit(parser)
    add_search(parser, SEARCH_SECONDS)
    parser.set_defaults(command=diagnose_command)


def diagnose_command(options: argparse.Namespace) -> int:
    """Run ``optimetry diagnose``."""
    launch = launch_of(options)
    if launch.own is None and options.optimizer is None:
        raise UsageError("no --optimizer, must be one that `optimetry rules` lists; or --as, if TARGET is your class")
    optimizer, *others = judged_as(launch.own, options.optimizer) or chosen_in(options.book, options.optimizer)
    if others:
        raise UsageError(f"--optimizer {others[0]}: must be left out, one is explained at a time, here {optimizer}")
    dtypes = chosen("dtype", options.dtype or DEFAULT_DTYPES, FORMATS)
    effort, seed = effort_of(options.effort), seed_of(options.seed)
    time_limit = seconds("--time-limit", options.time_limit)
    task = Task(launch, effort, seed, time_limit, search_of(options.search), diagnoses=True)
    with Workers(task, PROCESSES) as workers:
        target, jobs = workers.loaded, shared_out(optimizer, dtypes, len(workers.loaded.engines))
        with progress_bar(len(jobs)) as bar, ending_searches(workers.end_searches) as interrupted:
            findings = []
            for each in workers.run(jobs, bar.set_postfix_str):
                findings.append(each)
                bar.update()
        diagnoses = in_order(jobs, findings, dtypes)
    note = target.note or version_note(task.spec, target.version)
    if note:
        print(f"{note}\n")
    print(report(f"{target.name} {target.version}: {optimizer}", diagnoses, seed, terminal_width()))
    if interrupted():
        print("optimetry: interrupted", file=sys.stderr)
        return 130
    verdicts = {each.verdict.verdict for each in diagnoses}
    if verdicts <= {"unsupported"}:
        return 2
    return 0 if verdicts <= {"conforms", "unsupported"} else 1


PROCESSES = 2
"""How many processes share the engines, or the dtypes if there is one engine."""


def shared_out(optimizer: str, dtypes: Sequence[str], engines: int) -> list[Job]:
    """Return one job for each process, so that a framework starts an engine in one process alone."""
    if engines == 1:
        return [Job(optimizer, (dtype,), (0,)) for dtype in dtypes]
    parts = [tuple(range(part, engines, PROCESSES)) for part in range(PROCESSES)]
    return [Job(optimizer, tuple(dtypes), part) for part in parts if part]


def in_order(jobs: Sequence[Job], findings: Sequence[Sequence[Diagnosis]], dtypes: Sequence[str]) -> list[Diagnosis]:
    """Return the diagnoses of all jobs, dtype by dtype and engine by engine."""
    placed: list[tuple[tuple[int, int], Diagnosis]] = []
    for job, diagnoses in zip(jobs, findings, strict=True):
        places = [(dtypes.index(dtype), engine) for dtype in job.dtypes for engine in job.engines or ()]
        if len(diagnoses) < len(places):  # the job failed, and has one error for each dtype
            places = [(dtypes.index(dtype), (job.engines or (0,))[0]) for dtype in job.dtypes]
        placed += zip(places, diagnoses, strict=True)
    return [diagnosis for _, diagnosis in sorted(placed, key=lambda pair: pair[0])]
