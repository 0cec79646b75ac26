"""Keeps what a results file holds: adds measurements beside its verdicts, and cuts it where a run is resumed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optimetry.reports.accuracy import Accuracy
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import Entry, Header, Results, ResultsError, Writer, line, read
from optimetry.reports.speed import Speed

CHANGED = "not as its run has written it, so it cannot be resumed"


def add(
    path: Path,
    header: Header,
    accuracy: Sequence[Accuracy] = (),
    speed: Sequence[Speed] = (),
    certificates: Sequence[Certificate] = (),
) -> None:
    """Add measurements to a results file; those about the same are replaced.

    Args:
        path: the file, which is made if need be.
        header: who was measured; it heads a new file, and must fit that of an old one.
        accuracy: errors that were measured.
        speed: times that were measured.
        certificates: of pairs that were compared.

    Raises:
        ResultsError: the file is about another target, or cannot be read.
        OSError: it cannot be written.
    """
    kept = read(path) if path.exists() else Results(header)
    check_same(path, kept.header, header)
    if not kept.verdicts:
        kept = dataclasses.replace(kept, header=_about_both(kept.header, header))
    _replace(kept.accuracy, accuracy)
    _replace(kept.speed, speed)
    _replace(kept.certificates, certificates)
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


def write(path: Path, results: Results) -> None:
    """Write a results file at once: a reader sees the old one or the new one.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    with Writer(new, results.header) as writer:
        for record in entries(results):
            writer.write(record)
    new.replace(path)


def entries(results: Results) -> list[Entry]:
    """Return all records but header and footer, in the order of a file."""
    return [*results.documents, *results.verdicts, *results.accuracy, *results.speed, *results.certificates]


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
