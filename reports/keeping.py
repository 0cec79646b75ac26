"""Adds measurements to the results of a target, beside the verdicts that `optimetry check` has written there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from optimetry.reports.accuracy import Accuracy
from optimetry.reports.results import Header, Results, ResultsError, Writer, read


def add_accuracy(path: Path, header: Header, measured: Sequence[Accuracy]) -> None:
    """Add measurements to a results file; those about the same are replaced.

    Args:
        path: the file, which is made if need be.
        header: who was measured; it heads a new file, and must fit that of an old one.
        measured: the measurements.

    Raises:
        ResultsError: the file is about another target, or cannot be read.
        OSError: it cannot be written.
    """
    kept = read(path) if path.exists() else Results(header)
    _check_same(path, kept.header, header)
    about = {each.about for each in measured}
    accuracy = [*(each for each in kept.accuracy if each.about not in about), *measured]
    write(path, dataclasses.replace(kept, accuracy=accuracy))


def write(path: Path, results: Results) -> None:
    """Write a results file at once: a reader sees the old one or the new one.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    with Writer(new, results.header) as writer:
        for record in (*results.documents, *results.verdicts, *results.accuracy):
            writer.write(record)
    new.replace(path)


def _check_same(path: Path, old: Header, new: Header) -> None:
    if (old.target, old.target_version) != (new.target, new.target_version):
        raise ResultsError(
            f"{path}: results of {old.target} {old.target_version}, must be of {new.target} {new.target_version}: "
            "choose another folder"
        )
