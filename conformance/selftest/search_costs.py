"""Measures what a search costs where nothing explains a target: every program is tried then.

The target feeds each rule another gradient, which no two edits of a formula express. A search is a process of its own,
so that its memory is its own; seconds are of the processor's time, of one core.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.edited import traced
from optimetry.conformance.naming.search.fed import runs_of
from optimetry.conformance.naming.search.over_edits import nearest
from optimetry.conformance.naming.search.telling import telling_cases
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.session import Guard
from optimetry.reference.declaration import Declared
from optimetry.reference.rules import RULES

HEADING = "## Where nothing explains a target"

LONGEST = 600.0
"""Seconds after which a search is given up here."""


@dataclass(frozen=True)
class Cost:
    """What one search from the document took.

    Attributes:
        optimizer: the rule.
        programs: with one edit and with two, how many programs were tried.
        seconds: what each of both took.
        memory: the most that the process held, in MiB.
    """

    optimizer: str
    programs: tuple[int, int]
    seconds: tuple[float, float]
    memory: int


def beyond(rule: Declared, parameters: list[Array]) -> Any:
    """Begin a run that feeds a rule another gradient."""
    run: Any = run_of(rule, parameters)
    step = run.step

    def other(grad: Array | None) -> Any:
        return grad if grad is None else np.asarray(grad + np.cbrt(grad) * np.cos(grad), grad.dtype)

    run.step = lambda grads, rate: step([other(grad) for grad in grads], rate)
    return run


def cost_of(optimizer: str) -> Cost | None:
    """Search for the formula of such a target; None where the document is not traced."""
    target = Instead(beyond, optimizer)
    runs = runs_of(target, telling_cases(optimizer, "float32"), Guard())
    start = documented_class(optimizer)
    if not runs or traced(start, runs[0][0].hyper) is None:
        return None
    programs, seconds = [], []
    for count in (1, 2):
        budget, began = Budget(LONGEST), time.process_time()
        nearest(start, runs, count, budget, runs[0][0].form.roundoff)
        seconds.append(time.process_time() - began)
        programs.append(budget.programs)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Cost(optimizer, (programs[0], programs[1]), (seconds[0], seconds[1]), memory)


def costs() -> Iterator[Cost]:
    """Measure every rule of the first book."""
    names = sorted(RULES, reverse=True)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        yield from filter(None, pool.imap(cost_of, names))


def section(measured: Iterable[Cost]) -> str:
    """Write the section of the page."""
    lines = [
        HEADING,
        "",
        "Every program is tried there, from the document alone: one edit, then two, in a process of their own. Seconds",
        "are of the processor's time on one core; of memory, NumPy and the suite take some 60 MiB.",
        "",
        "| rule | one edit: programs | seconds | two edits: programs | seconds | programs a second | MiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for x in measured:
        (single, double), (short, long) = x.programs, x.seconds
        speed = f"{round(double / long, -3):,.0f}" if long > 0 else ""
        lines.append(f"| {x.optimizer} | {single:,} | {short:.2f} | {double:,} | {long:.1f} | {speed} | {x.memory} |")
    return "\n".join(lines) + "\n"


def replaced_in(page: str, new: str) -> str:
    """Put the section in the place of the one that a page has, or behind the rest."""
    before, heading, behind = page.partition(HEADING)
    _, other, following = behind.partition("\n## ")
    kept = f"\n## {following}" if other else ""
    return before.rstrip("\n") + "\n\n" + new + kept if heading else f"{page}\n{new}"
