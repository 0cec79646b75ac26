"""Runs ``optimetry campaign``: checks, certifications and searches as tasks, on a cluster of Dask or without one."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from optimetry.conformance.certify.pairs import DTYPES
from optimetry.conformance.certify.worst import Worst, WorstSearch
from optimetry.conformance.commands.arguments import (
    DEFAULT_DTYPES,
    add_book,
    add_dtypes,
    add_effort,
    add_optimizers,
    add_seed,
    add_time_limit,
    default_workers,
    effort_of,
    is_elementwise,
    named_path,
    seconds,
    seed_of,
    whole,
)
from optimetry.conformance.commands.campaigns.cluster import LOCAL, Cluster
from optimetry.conformance.commands.campaigns.finished import FILE, Finished
from optimetry.conformance.commands.campaigns.merged import WORST_CASES, Outcome, Searched, merged, write_results
from optimetry.conformance.commands.campaigns.on_worker import Site, site_at
from optimetry.conformance.commands.campaigns.plan import CampaignPart, CampaignPlan, CertifyPart, CheckPart, SearchPart
from optimetry.conformance.commands.certifying import judges_of, print_certificates
from optimetry.conformance.commands.files.held import held
from optimetry.conformance.commands.files.ledger import Ledger
from optimetry.conformance.commands.files.results_folder import checked_folder, writing
from optimetry.conformance.commands.files.resuming import measured
from optimetry.conformance.commands.text.progress import progress_bar
from optimetry.conformance.commands.text.terminal import shown, terminal_width
from optimetry.conformance.commands.workers.jobs import AnyJob, Task
from optimetry.conformance.commands.workers.launching import add_target, judged_as, launch_of
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import chosen_in
from optimetry.reference.errors import CampaignError, UsageError
from optimetry.reports import tables
from optimetry.reports.header import header_of
from optimetry.reports.results import Header

CHECK, CERTIFY, WORST = "check", "certify", "worst"
KINDS = (CHECK, CERTIFY, WORST)

NONE = "none"

DEFAULTS = {CHECK: DEFAULT_DTYPES, CERTIFY: ("bfloat16",), WORST: ("bfloat16", "float32")}
"""Of each kind of task, where no dtype is asked for: those of `optimetry check` and `optimetry certify`."""

EXAMPLES = """\
examples:
  optimetry campaign accelerated --out results                                    two workers here, no Dask
  optimetry campaign torch --do certify --optimizer sgd --blocks 8 --out results --scheduler local -n 8
  optimetry campaign adapter:MyTarget --do check --do worst --out results --scheduler tcp://host:8786

A cluster is Dask's own: `dask scheduler` on one machine, `dask worker tcp://host:8786` on others. Every worker needs
the same optimetry, NumPy and target. With the same options, a campaign that was ended in any way goes on where it was.

exit status: 0 every verdict and certificate is good; 1 some is not; 2 wrong usage, a target or file that cannot be
loaded, or a cluster that is lost."""


class Kinds(NamedTuple):
    """The rules and the dtypes of each kind of task that is asked for."""

    rules: dict[str, list[str]]
    dtypes: dict[str, list[str]]


def add_campaign(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "campaign",
        help="check, certify and search for worst cases, on one machine or many",
        description="Check a target, certify it on every pair of a parameter and a gradient, and search for its worst "
        "cases, all as tasks that a cluster of Dask shares. The files are those that one machine writes.",
        epilog=EXAMPLES,
    )
    add_target(parser)
    parser.add_argument(
        "--do", action="append", metavar="|".join(KINDS), help="a kind of task; can be repeated (default: all)"
    )
    parser.add_argument(
        "--scheduler",
        default=NONE,
        metavar="ADDRESS|local|none",
        help="a scheduler of Dask, such as tcp://host:8786; a cluster on this machine; or worker processes without "
        "Dask (default none)",
    )
    add_optimizers(parser)
    add_book(parser)
    defaults = "; ".join(f"{', '.join(names)} for {kind}" for kind, names in DEFAULTS.items())
    add_dtypes(parser, more=f" (default: {defaults})")
    add_effort(parser, "standard")
    parser.add_argument("--blocks", metavar="N", help="certify a drawn share, as for `optimetry certify`")
    parser.add_argument("--corners", action="store_true", help="also certify at corners of the hyperparameters")
    parser.add_argument("--starts", default="8", metavar="N", help="starts of each search for a worst case (default 8)")
    add_seed(parser, "all that is drawn")
    workers = default_workers()
    parser.add_argument("-n", metavar="WORKERS", help=f"number of workers on this machine (default {workers})")
    add_time_limit(parser)
    parser.add_argument("--out", type=named_path, metavar="DIR", help="where results are kept; must be given")
    parser.set_defaults(command=campaign_command, again="", workers=workers)


def campaign_command(options: argparse.Namespace) -> int:
    """Run ``optimetry campaign``; the status is 1 where a verdict or a certificate is not good."""
    if options.out is None:
        raise UsageError("--out: must be given, a campaign keeps what is finished there")
    launch = launch_of(options)
    effort = effort_of(options.effort)
    blocks = None if options.blocks is None else whole("--blocks", options.blocks, 1)
    seed = seed_of(options.seed)
    search = WorstSearch(seed, starts=whole("--starts", options.starts, 1))
    task = Task(launch, effort, seed, seconds("--time-limit", options.time_limit))
    asked = _asked(options, judged_as(launch.own, options.optimizer))
    count = options.workers if options.n is None else whole("-n", options.n, 1)
    if options.n is not None and options.scheduler not in (NONE, LOCAL):
        raise UsageError(f"-n {options.n}: must be left out, the cluster at {options.scheduler} has its own workers")
    checked_folder(options.out)
    with ExitStack() as stack:
        site, finish = _executor(stack, task, options.scheduler, count)
        stack.enter_context(held(options.out))
        plan = plan_of(asked, search, blocks, options.corners, site.loaded.engines)
        headers = {kind: _header(asked, kind, site, task) for kind in asked.rules}
        run = {kind: dataclasses.asdict(header) for kind, header in headers.items()} | {
            "engines": list(site.loaded.engines),
            "blocks": blocks,
            "corners": options.corners,
            "starts": search.starts,
            "time_limit": task.time_limit,
        }
        first = next(iter(headers.values()))
        measured(options.out / "results.jsonl", first)  # of another target is refused before anything is done
        with writing(options.out), closing(Finished(options.out / FILE, run, plan)) as finished:
            _finish(finished, finish)
            outcome = merged(plan, finished.in_order())
            write_results(options.out, headers.get(CHECK, first), headers.get(CERTIFY, first), plan, outcome)
            finished.end()
    _print(headers, outcome, options.out)
    bad = Ledger().balance(outcome.verdicts).unexpected
    good = not bad and all(each.holds for each in outcome.certificates)
    return 0 if good and (outcome.verdicts or outcome.certificates or outcome.searches) else 1


def _header(asked: Kinds, kind: str, site: Site, task: Task) -> Header:
    """Return the header of the results of one kind of task."""
    header = header_of(
        site.loaded.name,
        site.loaded.version,
        dtypes=asked.dtypes[kind],
        optimizers=asked.rules[kind],
        seed=task.seed,
        effort=task.effort.name if kind == CHECK else "none",
    )
    return dataclasses.replace(header, platform=site.platform)


def plan_of(
    asked: Kinds, search: WorstSearch, blocks: int | None, corners: bool, engines: Sequence[str]
) -> CampaignPlan:
    """List the tasks: all checks, then all blocks of certificates, then all searches."""
    parts: list[CampaignPart] = [
        CheckPart(rule, dtype) for rule in asked.rules.get(CHECK, ()) for dtype in asked.dtypes[CHECK]
    ]
    parts += [
        CertifyPart(judge, number, name, blocks)
        for judge in judges_of(asked.rules.get(CERTIFY, ()), asked.dtypes.get(CERTIFY, ()), search.seed, corners)
        for number, name in enumerate(engines)
    ]
    parts += [
        SearchPart(search, rule, dtype, number, name)
        for rule in asked.rules.get(WORST, ())
        for dtype in asked.dtypes[WORST]
        for number, name in enumerate(engines)
    ]
    return CampaignPlan(parts)


def _asked(options: argparse.Namespace, own: Sequence[str]) -> Kinds:
    """Return the rules and the dtypes of each kind of task; of rules with norms and of wrappers only checks.

    Raises:
        UsageError: there is nothing to do.
    """
    kinds = chosen("--do", options.do, KINDS)
    rules = list(own) or chosen_in(options.book, options.optimizer)
    elementwise = list(filter(is_elementwise, rules))
    asked = Kinds({}, {})
    for kind in KINDS:
        if kind not in kinds:
            continue
        named = chosen("dtype", options.dtype or DEFAULTS[kind], FORMATS)
        asked.rules[kind] = rules if kind == CHECK else elementwise
        asked.dtypes[kind] = [dtype for dtype in named if kind == CHECK or dtype in DTYPES]
        if not asked.rules[kind]:
            raise UsageError(f"--do {kind}: --optimizer must have a rule that treats elements one by one")
        if not asked.dtypes[kind]:
            raise UsageError(f"--do {kind}: --dtype must have one of: {', '.join(DTYPES)}")
    return asked


Executor = Callable[[Callable[[], tuple[int, AnyJob] | None]], Iterator[tuple[int, list[Any]]]]
"""Does the tasks that it takes; yields the number and the findings of each as it is done."""


def _executor(stack: ExitStack, task: Task, scheduler: str, count: int) -> tuple[Site, Executor]:
    """Return the site where the tasks run, and the function that does them."""
    if scheduler == NONE:
        workers = stack.enter_context(Workers(task, count))
        return site_at(workers), workers.finished
    cluster = stack.enter_context(Cluster(task, scheduler, count))
    print(f"dashboard: {cluster.dashboard}", file=sys.stderr, flush=True)
    site = cluster.site()
    return site, lambda take: cluster.finished(take, site)


def _finish(finished: Finished, finish: Executor) -> None:
    """Do the tasks that are left; a terminal has a progress bar with the rate and the time that remains."""
    with progress_bar(finished.plan.count, "task", initial=finished.count) as bar:
        for number, findings in finish(finished.take):
            bar.update(finished.add(number, findings))
    if finished.count < finished.plan.count:
        raise CampaignError(f"{finished.plan.count - finished.count} tasks are not done; the same command goes on")


def _print(headers: dict[str, Header], outcome: Outcome, out: Path) -> None:
    width = terminal_width()
    if CHECK in headers:
        header = headers[CHECK]
        print(f"{header.name}. {tables.about(header)}\n")
        print(shown(tables.terminal(outcome.verdicts, width)))
        print(f"\n{tables.summary(outcome.verdicts)}\n")
    if CERTIFY in headers:
        print_certificates(headers[CERTIFY], outcome.certificates, outcome.refusals)
        print()
    if outcome.searches:
        print(f"Largest error ratios that were found; the arguments stand in {out / WORST_CASES}.\n")
        print(tabulate(map(_row, outcome.searches), ("rule", "dtype", "engine", "share"), "simple"))
        print()
    print(f"written: {out}")


def _row(searched: Searched) -> tuple[str, str, str, str]:
    part, result = searched
    if isinstance(result, Worst):
        text = f"{result.share:.4f}" if result.case else "nothing was judged"
        text += ", and a result that is no number where one is expected" if result.beyond else ""
    else:
        text = result
    return part.optimizer, part.dtype, part.engine_name, text
