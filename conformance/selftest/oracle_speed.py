"""Measures how many cases a second the oracle evaluates, in each of its three ways.

``python -m optimetry.conformance.selftest.oracle_speed`` prints the table of the decision on batched cases. Seconds are
of the processor's time, on one core; the fastest of `RUNS`, as others on the machine make a run slower, never faster.

1. As the issue of a faster judge found it: every tensor of every case by itself.
2. Every case by itself, its tensors joined where elements are independent: what a candidate gets that is excluded soon.
3. All cases in batches, as a check asks for them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.oracle.batched import evaluated_ahead
from optimetry.conformance.oracle.expected import Asked, BoundedNumbers, expected, with_underflow_room
from optimetry.conformance.subjects.registry import subject_named, subject_of
from optimetry.reference.rules import RULES

DTYPES = ("bfloat16", "float32", "float64")
CASES = 400
"""As `optimetry check` draws them by default."""

SAMPLE = 3
"""One case in so many is evaluated by itself."""

RUNS = 3


@dataclass(frozen=True)
class OracleSpeed:
    """The cases a second of one rule in one dtype: each tensor by itself, each case by itself, and in batches."""

    optimizer: str
    dtype: str
    tensors: float
    cases: float
    batches: float


def by_tensor(cases: Iterable[Case]) -> None:
    """Evaluate every tensor of every case by itself."""
    for case in cases:
        subject = subject_of(case)
        for _ in subject.trajectory(case, BoundedNumbers(subject, with_underflow_room(case.form))):
            pass


def by_case(cases: Iterable[Case]) -> None:
    """Evaluate every case by itself."""
    for case in cases:
        _ = expected(case).bound


def in_batches(cases: Iterable[Case]) -> None:
    """Evaluate cases as a check does."""
    by_case(evaluated_ahead(cases, lambda case: [Asked(case)]))


def speeds(optimizers: Iterable[str], dtypes: Sequence[str], count: int) -> Iterator[OracleSpeed]:
    """Measure rules in dtypes."""
    for optimizer in optimizers:
        for dtype in dtypes:
            drawn = list(drawn_cases(subject_named(optimizer), dtype, seed=0, count=count))
            ways = ((by_tensor, drawn[::SAMPLE]), (by_case, drawn[::SAMPLE]), (in_batches, drawn))
            yield OracleSpeed(optimizer, dtype, *(len(cases) / _seconds(way, cases) for way, cases in ways))


def _seconds(way: Callable[[Iterable[Case]], None], cases: Iterable[Case]) -> float:
    """Return how long the fastest run takes; each has new cases, as evaluations are kept."""
    seconds = []
    for _ in range(RUNS):
        new = [x.replace() for x in cases]
        began = time.process_time()
        way(new)
        seconds.append(time.process_time() - began)
    return max(min(seconds), 1e-9)


def table(measured: Iterable[OracleSpeed]) -> str:
    """Write the table."""
    lines = [
        "| rule | dtype | each tensor | each case | batches | batches / tensors | batches / cases |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for x in measured:
        ways = " | ".join(f"{each:,.0f}" for each in (x.tensors, x.cases, x.batches))
        ratios = f"{x.batches / x.tensors:.1f} | {x.batches / x.cases:.1f}"
        lines.append(f"| {x.optimizer} | {x.dtype} | {ways} | {ratios} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure how many cases a second the oracle evaluates.")
    parser.add_argument("--optimizer", action="append", metavar="NAME", help="default: every rule of fluid")
    parser.add_argument("--dtype", action="append", metavar="NAME", help=f"default: {', '.join(DTYPES)}")
    parser.add_argument("--cases", type=int, default=CASES, metavar="N", help=f"how many cases (default {CASES})")
    options = parser.parse_args(arguments)
    print(table(speeds(options.optimizer or sorted(RULES), options.dtype or DTYPES, options.cases)), end="")


if __name__ == "__main__":
    main()
