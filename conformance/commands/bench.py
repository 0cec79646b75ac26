"""Runs ``optimetry bench``: times targets beside our accelerated backend and the speed of memory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tabulate import tabulate
from tqdm import tqdm

from optimetry.conformance.commands.arguments import (
    add_book,
    add_dtypes,
    add_optimizers,
    named_path,
    rules_in,
    seconds,
    whole,
)
from optimetry.conformance.commands.files.held import held
from optimetry.conformance.commands.files.results_folder import checked_folder, writing
from optimetry.conformance.commands.text.terminal import NONE_OFFERED, filled
from optimetry.conformance.commands.workers.launching import OWN, add_own, judged_as, own_of
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.targets.accelerated.timing import HOST_ENGINES, Timed, has_kernel, timed
from optimetry.conformance.targets.own import OwnTarget
from optimetry.conformance.targets.own_loading import Own
from optimetry.reference.errors import UsageError
from optimetry.reports.header import header_of
from optimetry.reports.keeping import add, check_fits
from optimetry.reports.numbers import three_digits
from optimetry.reports.results import Results
from optimetry.reports.speed import Speed

EXAMPLES = """\
examples:
  optimetry bench torch --optimizer adam --size 1e7
  optimetry bench adapter:MyTarget --optimizer sgd --size 1e5 --size 1e7
  optimetry bench torch paddle --book torch --optimizer adamw --tensors 1000 --size 1e4
  optimetry bench torch:mypackage.MyAdam torch --as torch.adam      a class of yours, beside torch's

touch is a kernel that reads and writes the same memory as ours, with one addition in place of the formula: what memory
allows. Contenders take turns; figures are medians. Other work on the machine changes them: compare those of one run.

exit status: 0 there are figures; 2 wrong usage, a target or file that cannot be loaded or written, or no rule is
offered."""

COLUMNS = (
    "optimizer",
    "dtype",
    "size",
    "contender",
    "ns/element",
    "\N{PLUS-MINUS SIGN}",
    "GB/s",
    "of limit",
    "of ours",
)
OURS = "accelerated"


def add_bench(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "bench",
        help="time a target beside the accelerated backend and the speed of memory",
        description="Time one step of targets beside the accelerated backend and the speed of memory, in turns.",
        epilog=EXAMPLES,
    )
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="built-in names, or module:object")
    add_own(parser)
    add_optimizers(parser)
    add_book(parser, "whose rules are timed")
    add_dtypes(parser, more=" (default float32)")
    parser.add_argument(
        "--size", action="append", metavar="N", help="elements of one parameter, as 1e6 (default 1e6); can be repeated"
    )
    parser.add_argument("--tensors", default="1", metavar="N", help="how many parameters (default 1)")
    parser.add_argument(
        "--seconds", default="1", metavar="S", help="about how long the contenders of one row take together (default 1)"
    )
    parser.add_argument(
        "--out",
        type=named_path,
        metavar="DIR",
        help="add to DIR/results.jsonl, the results of the first TARGET: a line for each row, with every digit",
    )
    parser.set_defaults(command=bench_command)


def bench_command(options: argparse.Namespace) -> int:
    """Run ``optimetry bench``; the status is 1 where a target offers none of the rules."""
    owned = _owned(options)
    asked = judged_as(next(filter(None, owned), None), options.optimizer) or options.optimizer
    rules = rules_in(options.book, asked, has_kernel, "a rule that our backend has a kernel for")
    dtypes = chosen("dtype", options.dtype or ["float32"], FORMATS)
    sizes = [size_of(text) for text in options.size or ["1e6"]]
    tensors, limit = whole("--tensors", options.tensors, 1), seconds("--seconds", options.seconds)
    folder = checked_folder(options.out)
    targets = [Timed(*each) for each in zip(options.targets, owned, strict=True)]
    jobs = [(rule, dtype, size) for rule in rules for dtype in dtypes for size in sizes]
    names = targets[0].target.name, str(targets[0].target.version)
    header = header_of(*names, dtypes=dtypes, optimizers=rules, seed=0, effort="none")
    with held(folder):
        if folder is not None:
            check_fits(folder / "results.jsonl", header)
        rows: list[Speed] = []
        for rule, dtype, size in tqdm(jobs, unit="row", leave=False, disable=None):
            rows += timed(targets, rule, dtype, tensors, size, limit)
        for each in targets:
            if isinstance(each.target, OwnTarget):
                print(f"{filled(each.target.note)}\n")
        for target in targets:
            how = (
                "steps on arrays of its own"
                if target.in_place
                else "takes and returns arrays, which is part of its time"
            )
            print(f"{target.name} {how}.")
        print(f"\n{table(rows)}" if rows else f"\n{NONE_OFFERED}")
        if folder is not None:
            with writing(folder):
                add(folder / "results.jsonl", Results(header, speed=rows))
            print(f"\nwritten: {folder / 'results.jsonl'}")
    return 0 if rows else 2


def _owned(options: argparse.Namespace) -> list[Own | None]:
    """Return, for each target, the user's optimizer that it is; None for a whole library, which has no colon.

    Raises:
        UsageError: there is ``--as`` and no such optimizer, or ``--with`` and no ``--as``.
    """
    owned = [own_of(spec, options) if ":" in spec or not options.rule else None for spec in options.targets]
    if options.rule and not any(owned):
        raise UsageError(f"--as {options.rule}: must be left out, or a target be an optimizer of yours. {OWN}")
    return owned


def size_of(text: str) -> int:
    """Parse a number of elements, which may be written as ``1e6``.

    Raises:
        UsageError: it is no whole number of at least 1.
    """
    digits, power, zeros = text.partition("e")
    if power and zeros.isascii() and zeros.isdigit() and int(zeros) <= 12:
        text = digits + "0" * int(zeros)
    if not text.isdigit():
        raise UsageError(f"--size = {text!r}, must be a whole number of at least 1, as 1000000 or 1e6")
    return whole("--size", text, 1)


def table(rows: Sequence[Speed]) -> str:
    """Write a table: for each rule, dtype and size the contenders, the fastest first, ours by the name of the engine.

    ``of limit`` is the time of the touch limit by a contender's, ``of ours`` that of our fastest engine.
    """
    written = []
    for _, group in groupby(rows, key=lambda row: (row.rule, row.dtype, row.tensors, row.elements)):
        together = sorted(group, key=lambda row: row.nanoseconds)
        ours = min(row.nanoseconds for row in together if row.contender in HOST_ENGINES)
        written += [_cells(row, ours) for row in together]
    return tabulate(written, COLUMNS, "simple", disable_numparse=True, colalign=("left",) * 4 + ("right",) * 5)


def _cells(row: Speed, ours: float) -> list[str]:
    size = f"{row.tensors:,} x {row.elements:,}" if row.tensors > 1 else f"{row.elements:,}"
    name = f"{OURS} {row.contender}" if row.contender in HOST_ENGINES else row.contender
    figures = [three_digits(row.nanoseconds), f"{row.spread:.0%}", three_digits(row.gigabytes_per_second)]
    shares = [f"{row.touch_share:.2f}", f"{ours / row.nanoseconds:.2f}"]
    return [row.rule, row.dtype, size, name, *figures, *shares]
