"""Adds measurements to the results of a target, beside the verdicts that `optimetry check` has written there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optimetry.reports.accuracy import Accuracy
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import Entry, Header, Results, ResultsError, Writer, read
from optimetry.reports.speed import Speed


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
    _check_same(path, kept.header, header)
    _replace(kept.accuracy, accuracy)
    _replace(kept.speed, speed)
    _replace(kept.certificates, certificates)
    write(path, kept)


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
        records: list[Entry] = [
            *results.documents,
            *results.verdicts,
            *results.accuracy,
            *results.speed,
            *results.certificates,
        ]
        for record in records:
            writer.write(record)
    new.replace(path)


def _check_same(path: Path, old: Header, new: Header) -> None:
    if (old.target, old.target_version) != (new.target, new.target_version):
        raise ResultsError(
            f"{path}: results of {old.target} {old.target_version}, must be of {new.target} {new.target_version}: "
            "choose another folder"
        )
