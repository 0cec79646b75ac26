"""Keeps what a results file holds: adds measurements beside its verdicts, and cuts it where a run is resumed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optimetry.reports.results import FIELDS, Entry, Header, Results, ResultsError, Writer, line, read

CHANGED = "not as its run has written it, so it cannot be resumed"

MEASUREMENTS = ("accuracy", "speed", "certificates")
"""The fields of `Results` that hold measurements, which files without verdicts may hold, too."""


def add(path: Path, measured: Results) -> None:
    """Add measurements to a results file; those about the same are replaced.

    Args:
        path: the file, which is made if need be.
        measured: the measurements, without verdicts; its header heads a new file, and must fit that of an old one.

    Raises:
        ResultsError: the file is about another target, or cannot be read.
        OSError: it cannot be written.
    """
    kept = read(path) if path.exists() else Results(measured.header)
    check_same(path, kept.header, measured.header)
    if not kept.verdicts:
        kept = dataclasses.replace(kept, header=_about_both(kept.header, measured.header))
    for kind in MEASUREMENTS:
        _replace(getattr(kept, kind), getattr(measured, kind))
    write(path, kept)


def check_fits(path: Path, header: Header) -> None:
    """Check that measurements may be added to a results file, before they are made.

    Raises:
        ResultsError: the file is about another target, or cannot be read.
    """
    if path.exists():
        check_same(path, read(path).header, header)


def _about_both(old: Header, new: Header) -> Header:
    """Return a header with the dtypes and optimizers of both."""
    dtypes, optimizers = [*old.dtypes, *new.dtypes], [*old.optimizers, *new.optimizers]
    return dataclasses.replace(old, dtypes=list(dict.fromkeys(dtypes)), optimizers=list(dict.fromkeys(optimizers)))


def _replace(kept: list[Any], new: Sequence[Any]) -> None:
    """Put new records behind the old ones, in place of those about the same."""
    about = {each.about for each in new}
    kept[:] = [*(each for each in kept if each.about not in about), *new]


def write(path: Path, results: Results, *, unfinished: bool = False) -> None:
    """Write a results file at once: a reader sees the old one or the new one.

    Args:
        path: the file.
        results: what it is to hold.
        unfinished: whether a run goes on behind it, so that it has no footer yet.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    with Writer(new, results.header) as writer:
        for record in entries(results):
            writer.write(record)
    if unfinished:
        cut(new, results)
    new.replace(path)


def entries(results: Results) -> list[Entry]:
    """Return all records but header and footer, in the order of a file."""
    return [record for kind, _ in FIELDS.values() for record in getattr(results, kind)]


def cut(path: Path, kept: Results) -> None:
    """Cut a results file off behind what is kept of it, so that its run can be resumed there.

    Raises:
        ResultsError: it does not begin with what is kept.
        OSError: it cannot be written.
    """
    lines = [f"{line(record)}\n".encode() for record in (kept.header, *entries(kept))]
    written = path.read_bytes().splitlines(keepends=True)[: len(lines)]
    if sorted(written) != sorted(lines):  # measurements may come first
        raise ResultsError(f"{path}: {CHANGED}")
    os.truncate(path, sum(map(len, lines)))


def check_same(path: Path, old: Header, new: Header) -> None:
    """Check that two headers are of the same target and version.

    Raises:
        ResultsError: they are not.
    """
    if old.about != new.about:
        raise ResultsError(f"{path}: results of {old.name}, must be of {new.name}: choose another folder")
