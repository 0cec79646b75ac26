"""Judges exhibits for ``optimetry museum``, prints the outcomes, and writes the page."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context
from pathlib import Path

from tqdm import tqdm

from optimetry.conformance.commands.arguments import effort_of, search_of, whole
from optimetry.conformance.commands.files.results_folder import checked_folder, write
from optimetry.conformance.commands.workers.worker import inherited
from optimetry.conformance.selftest.museum.exhibit import EXHIBITS, load
from optimetry.conformance.selftest.museum.page import bugs_of, page, summary
from optimetry.conformance.selftest.museum.picture import picture
from optimetry.conformance.selftest.museum.showing import Shown, read, shown, written
from optimetry.conformance.subjects.names import chosen
from optimetry.reference.errors import UsageError

DATA = "museum.jsonl"
"""The file of rows that the page is made of."""


def run(options: argparse.Namespace) -> int:
    """Judge the exhibits that were asked for; return the exit status."""
    load()
    names = chosen("case", options.case, EXHIBITS)
    effort = effort_of(options.effort).name
    workers, search = whole("-n", options.n, 1), search_of(options.search)
    if checked_folder(options.out) is not None and options.case and not (options.out / DATA).is_file():
        raise UsageError(f"--case {options.case[0]} --out {options.out}: there is no {DATA} yet to put it into")
    about: dict[str, object] = {"effort": effort}
    rows, kept = list[Shown](), list[Shown]()
    if options.case and options.out is not None:
        about, kept = read(options.out / DATA)
    for row in tqdm(all_shown(names, effort, search, workers), "museum", len(names), disable=None):
        tqdm.write(line(row))
        rows.append(row)
        if options.out is not None:  # what is known is kept where the run is ended
            write(options.out / DATA, written(in_order(rows, kept), **about))
    print(summary(rows))
    if options.out is not None:
        write_page(options.out, in_order(rows, kept), about)
    return 0 if all(row.right if row.exhibit.honest else row.rejected and not row.wrong for row in rows) else 1


def all_shown(names: Sequence[str], effort: str, search: float | None, workers: int) -> Iterator[Shown]:
    """Judge exhibits in processes of their own, and yield what is made of each as soon as that is known.

    They are killed where the caller stops early, as after Ctrl-C.
    """
    if workers == 1:
        yield from (shown(name, effort, search) for name in names)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        try:
            with inherited():
                waiting = [pool.submit(shown, name, effort, search) for name in names]
            yield from (judged.result() for judged in as_completed(waiting))
        except BaseException:
            for process in active_children():
                process.kill()
            raise


def in_order(shown: Iterable[Shown], kept: Iterable[Shown]) -> list[Shown]:
    """Return the rows shown now, and the kept rows of other exhibits, in the order of the exhibits."""
    rows = {row.name: row for row in (*kept, *shown)}
    return [rows[name] for name in EXHIBITS if name in rows]


def write_page(folder: Path, rows: Sequence[Shown], about: Mapping[str, object]) -> None:
    """Write the page and its picture."""
    write(folder / "museum.md", page(rows, about))
    write(folder / "museum.svg", picture(bugs_of(rows), str(about["effort"])))
    print(f"written: {folder / 'museum.md'}, museum.svg, {DATA}")


def line(shown: Shown) -> str:
    """Write the outcome of an exhibit in a line."""
    fault = shown.exhibit.fault
    if shown.exhibit.honest:
        return f"{shown.name} ({fault.optimizer}): {'accepted' if shown.right else 'NOT ACCEPTED'}: {shown.outcome}"
    by = f"rejected by {shown.rejected_by} after {shown.runs} runs" if shown.rejected else "NOT REJECTED"
    usual = "a usual test notices it" if shown.usual else "a usual test does not notice it"
    wrong = f" WRONGLY, must be {fault.outcome}" if shown.wrong else ""
    formula = f" ({shown.formula})" if shown.formula else ""
    return f"{shown.name} ({fault.optimizer}): {by}; {shown.outcome}{formula}{wrong}; named: {shown.named}; {usual}"
