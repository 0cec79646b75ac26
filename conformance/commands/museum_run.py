"""Judges exhibits for ``optimetry museum``, prints what becomes of them, and writes the page."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.commands.arguments import search_of, whole
from optimetry.conformance.commands.results_folder import checked_folder, write
from optimetry.conformance.selftest.museum.exhibit import EXHIBITS, load
from optimetry.conformance.selftest.museum.page import bugs_of, page, summary
from optimetry.conformance.selftest.museum.picture import picture
from optimetry.conformance.selftest.museum.showing import Shown, all_shown, read, written
from optimetry.conformance.subjects.names import chosen
from optimetry.reference.errors import UsageError

DATA = "museum.jsonl"
"""What the page is made of."""


def run(options: argparse.Namespace) -> int:
    """Judge the exhibits that were asked for; return the exit status."""
    load()
    names = chosen("case", options.case, EXHIBITS)
    (effort,) = chosen("effort", [options.effort], EFFORTS)
    workers, search = whole("-n", options.n, 1), search_of(options.search)
    if checked_folder(options.out) is not None and options.case and not (options.out / DATA).is_file():
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
