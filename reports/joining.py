"""Joins results files: adds separate measurements to the verdicts on the same version of a target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from optimetry.reports.keeping import MEASUREMENTS
from optimetry.reports.results import Results, ResultsError, read


def read_joined(files: Sequence[Path]) -> list[tuple[Path, Results]]:
    """Read results files; one without verdicts is added to an earlier one of the same version of the same target.

    Returns:
        Each file that was not added to another, with its joined results; those with verdicts come first.

    Raises:
        ResultsError: a file cannot be read, or two that are joined hold measurements of the same thing.
    """
    contents = sorted(((file, read(file)) for file in files), key=lambda pair: not pair[1].verdicts)
    kept: list[tuple[Path, Results]] = []
    for file, results in contents:
        first = next((each for _, each in kept if each.header.about == results.header.about), None)
        if first is None or results.verdicts:
            kept.append((file, results))
        else:
            _add(first, results, file)
    return kept


def _add(kept: Results, results: Results, file: Path) -> None:
    for kind in MEASUREMENTS:
        old, new = getattr(kept, kind), getattr(results, kind)
        twice = {each.about for each in old} & {each.about for each in new}
        if twice:
            name = " ".join(map(str, min(twice)))
            raise ResultsError(f"{file}: {kind} of {name}, which another file of {kept.header.name} has as well")
        old.extend(new)
    documented = {document.optimizer for document in kept.documents}
    kept.documents.extend(document for document in results.documents if document.optimizer not in documented)
