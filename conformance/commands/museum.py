"""Runs ``optimetry museum``: judges real bugs of optimizers, rebuilt as targets, and writes the page about them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.commands.arguments import add_search, search_of, whole
from optimetry.conformance.commands.check import checked_folder, write
from optimetry.conformance.selftest.museum.exhibit import EXHIBITS, load
from optimetry.conformance.selftest.museum.page import bugs_of, page, summary
from optimetry.conformance.selftest.museum.picture import picture
from optimetry.conformance.selftest.museum.showing import Shown, all_shown, read, written
from optimetry.conformance.subjects.names import chosen
from optimetry.reference.errors import UsageError

DEFAULT_SEARCH = 0.0

DATA = "museum.jsonl"
"""What the page is made of."""

EXAMPLES = """\
examples:
  optimetry museum                                   every bug: rejected, named, noticed by a usual test?
  optimetry museum --case optax-1130 --case keras-nonfused-eps
  optimetry museum --out docs                        and write the page
  optimetry museum --case optax-1130 --out docs      one of them anew, in the page that is there

exit status: 0 every bug is rejected, none is named wrongly, and what must be accepted is; 1 not so."""


def add_museum(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    parser = commands.add_parser(
        "museum",
        help="judge real bugs of optimizers, rebuilt as targets",
        description="Judge real bugs of optimizers from public trackers, each rebuilt as a target of a few lines, and "
        "correct optimizers that were reported as wrong.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--case", action="append", metavar="ID", help="one of them; can be repeated, all by default")
    parser.add_argument("--effort", default="quick", metavar="|".join(EFFORTS), help="how many cases (default quick)")
    workers = min(2, os.cpu_count() or 1)
    parser.add_argument(
        "-n", default=str(workers), metavar="WORKERS", help=f"number of worker processes (default {workers})"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write museum.md, museum.svg and museum.jsonl to DIR")
    add_search(parser, DEFAULT_SEARCH)
    parser.set_defaults(command=museum_command)


def museum_command(options: argparse.Namespace) -> int:
    """Run ``optimetry museum``."""
    load()
    names = chosen("case", options.case, EXHIBITS)
    (effort,) = chosen("effort", [options.effort], EFFORTS)
    workers, search = whole("-n", options.n, 1), search_of(options.search)
    if options.out is not None:
        checked_folder(options.out)
        if options.case and not (options.out / DATA).is_file():
            raise UsageError(f"--case {options.case[0]} --out {options.out}: there is no {DATA} yet to put it into")
    about: dict[str, object] = {"effort": effort}
    found, kept = list[Shown](), list[Shown]()
    if options.case and options.out is not None:
        about, kept = read(options.out / DATA)
    for one in tqdm(all_shown(names, effort, search, workers), "museum", len(names), disable=None):
        tqdm.write(line(one))
        found.append(one)
        if options.out is not None:  # what is known is kept where the run is ended
            write(options.out / DATA, written(in_order(found, kept), **about))
    print(summary(found))
    if options.out is not None:
        write_page(options.out, in_order(found, kept), about)
    return 0 if all(one.right if one.exhibit.honest else one.rejected and not one.wrong for one in found) else 1


def in_order(found: Iterable[Shown], kept: Iterable[Shown]) -> list[Shown]:
    """Return what has been found and what is kept of the others, in the order of the exhibits."""
    rows = {one.name: one for one in (*kept, *found)}
    return [rows[name] for name in EXHIBITS if name in rows]


def write_page(folder: Path, rows: Sequence[Shown], about: Mapping[str, object]) -> None:
    """Write the page and its picture."""
    write(folder / "museum.md", page(rows, about))
    write(folder / "museum.svg", picture(bugs_of(rows), str(about["effort"])))
    print(f"written: {folder / 'museum.md'}, museum.svg, {DATA}")


def line(one: Shown) -> str:
    """Say in a line what became of an exhibit."""
    fault = one.exhibit.fault
    if one.exhibit.honest:
        return f"{one.name} ({fault.optimizer}): {'accepted' if one.right else 'NOT ACCEPTED'}: {one.outcome}"
    by = f"rejected by {one.rejected_by} after {one.runs} runs" if one.rejected else "NOT REJECTED"
    usual = "a usual test notices it" if one.usual else "a usual test does not notice it"
    wrong = f" WRONGLY, must be {fault.outcome}" if one.wrong else ""
    formula = f" ({one.formula})" if one.formula else ""
    return f"{one.name} ({fault.optimizer}): {by}; {one.outcome}{formula}{wrong}; named: {one.named}; {usual}"
