"""``optimetry diagnose``: what a target computes instead, told so that it can be mended."""

from __future__ import annotations

import argparse
import os
import secrets
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

from optimetry.conformance.cases.effort import EFFORTS, Effort
from optimetry.conformance.commands.check import terminal_width
from optimetry.conformance.commands.diagnosis_text import report
from optimetry.conformance.commands.workers import SINGLE_THREADED
from optimetry.conformance.judging.diagnose import Diagnosis, diagnose
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.targets.loading import load_target, version_note
from optimetry.conformance.targets.protocol import engines_of
from optimetry.reference.rules import RULES
from optimetry.reports.results import Verdict

EXAMPLES = """\
examples:
  optimetry diagnose torch --optimizer adam
  optimetry diagnose mypackage.adapter:Target --optimizer lamb --dtype float64

exit status: 0 it conforms; 1 it does not; 2 wrong usage, or the target cannot be loaded."""

DEFAULT_EFFORT = "quick"


def add_diagnose(commands: Any, dtypes: Sequence[str]) -> None:
    """Enter the command among the subparsers of ``optimetry``; ``dtypes`` are those of `check`."""
    parser = commands.add_parser(
        "diagnose",
        help="name the difference: which rule a target computes instead",
        description="Name what a target computes for one optimizer: the documented rule, another one, or either "
        "with numbers held in lower precision.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("target", metavar="TARGET", help="a built-in name, or module:object")
    parser.add_argument("--optimizer", required=True, metavar="NAME", help="one of: " + ", ".join(RULES))
    parser.add_argument(
        "--dtype", action="append", metavar="NAME", help=f"one of: {', '.join(FORMATS)} ({' and '.join(dtypes)})"
    )
    parser.add_argument(
        "--effort", default=DEFAULT_EFFORT, metavar="|".join(EFFORTS), help=f"how many cases confirm ({DEFAULT_EFFORT})"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="what cases come from, or `random` (0)")
    parser.add_argument("--time-limit", default="60", metavar="S", help="seconds one run of the target may take (60)")
    parser.set_defaults(command=diagnose_command, dtypes=tuple(dtypes))


def diagnose_command(options: argparse.Namespace) -> int:
    """``optimetry diagnose``."""
    from optimetry.conformance.commands.cli import _seconds, _whole  # a module that imports this one

    (optimizer,) = chosen("optimizer", [options.optimizer], RULES)
    dtypes = chosen("dtype", options.dtype or options.dtypes, FORMATS)
    (effort,) = chosen("effort", [options.effort], EFFORTS)
    random = options.seed == "random"
    seed = secrets.randbelow(2**32) if random else _whole("--seed", options.seed, 0, "or `random`")
    time_limit = _seconds("--time-limit", options.time_limit)
    arguments = (options.target, optimizer, EFFORTS[effort], seed, time_limit)
    name, version, found = _in_processes(arguments, dtypes)
    note = version_note(options.target, version)
    if note:
        print(f"{note}\n")
    print(report(f"{name} {version}: {optimizer}", found, seed, terminal_width()))
    verdicts = [each.verdict.verdict for each in found]
    return 0 if "conforms" in verdicts and set(verdicts) <= {"conforms", "unsupported"} else 1


PROCESSES = 2
"""Engines are shared out among so many processes; the dtypes, where there is but one engine."""

Place = tuple[int, int]
"""The number of a dtype and of an engine."""


def shares(engines: int, dtypes: int, part: int) -> list[Place]:
    """What one process diagnoses: a framework then starts an engine in one process alone."""
    places = [(i, j) for i in range(dtypes) for j in range(engines)]
    return [(i, j) for i, j in places if (j if engines > 1 else i) % PROCESSES == part]


def _in_processes(arguments: tuple[Any, ...], dtypes: Sequence[str]) -> tuple[str, str, list[Diagnosis]]:
    """The target's name and version, and its diagnoses, dtype by dtype and engine by engine.

    Raises:
        TargetError: the target cannot be loaded.
    """
    name, version = str(arguments[0]), ""
    found: dict[Place, Diagnosis] = {}
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), max_tasks_per_child=1) as pool:
        for answer in [pool.submit(_in_process, part, list(dtypes), *arguments) for part in range(PROCESSES)]:
            try:
                name, version, diagnoses = answer.result()
            except BrokenProcessPool:
                continue
            found |= diagnoses
    for i, dtype in enumerate(dtypes):
        if not any(place[0] == i for place in found):
            reason = "its process ended in the middle of a run"
            verdict = Verdict(optimizer=arguments[1], dtype=dtype, verdict="error", reason=reason)
            found[i, 0] = Diagnosis(verdict)
    return name, version, [found[place] for place in sorted(found)]


def _in_process(
    part: int, dtypes: list[str], spec: str, optimizer: str, effort: Effort, seed: int, time_limit: float
) -> tuple[str, str, dict[Place, Diagnosis]]:
    os.dup2(2, 1)  # what a target prints is no part of our output,
    warnings.simplefilter("ignore")  # nor are its warnings: cases overflow on purpose
    for name in SINGLE_THREADED:
        os.environ.setdefault(name, "1")  # tensors are tiny
    target = load_target(spec)
    engines = engines_of(target)
    mine = shares(len(engines), len(dtypes), part)
    found: dict[Place, Diagnosis] = {}
    for i, dtype in enumerate(dtypes):
        places = [place for place in mine if place[0] == i]
        chosen = [engines[j] for _, j in places]
        some: Any = SimpleNamespace(name=target.name, version=target.version, engines=lambda: chosen)  # noqa: B023
        if places:
            diagnoses = diagnose(some, optimizer, dtype, effort=effort, seed=seed, time_limit=time_limit)
            found |= zip(places, diagnoses, strict=True)
    return str(target.name), str(target.version), found
