"""Begins a results file, which keeps the measurements in it, or resumes one, whose verdicts are not judged again."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import Any

from optimetry.conformance.commands.workers.jobs import Job
from optimetry.reference.errors import UsageError
from optimetry.reports.keeping import CHANGED, check_same, cut, entries, write
from optimetry.reports.results import Header, Results, ResultsError, Verdict, read

SHOWN = 60
"""Characters of a header's field that an error text shows."""


def measured(path: Path, header: Header) -> Results:
    """Return what a results file holds beside verdicts and their documents; nothing where there is no file yet.

    Raises:
        ResultsError: its verdicts are of another target, its measurements of another target or version, or the file
            cannot be read.
    """
    if not _has_header(path):
        return Results(header)
    results = read(path, unfinished=True)
    kept = dataclasses.replace(results, header=header, verdicts=[], documents=[])
    if entries(kept) or (results.verdicts and results.header.target != header.target):
        check_same(path, results.header, header)
    return kept


def begun(path: Path, header: Header, anew: Collection[tuple[str, ...]] = ()) -> Results:
    """Begin the file of a run behind the measurements of other commands that it holds; return these.

    Args:
        path: the results file.
        header: that of the run.
        anew: what the run certifies itself, as `Certificate.about`.

    Raises:
        ResultsError: as for `measured`; the file is left as it was.
        OSError: the file cannot be written.
    """
    kept = measured(path, header)
    kept.certificates[:] = [each for each in kept.certificates if each.about not in anew]
    write(path, kept, unfinished=True)
    return kept


def resumed(path: Path, header: Header, jobs: Sequence[Job], engines: Collection[str]) -> Results:
    """Return what a results file holds of this run, and cut off the rest; it is begun where there is none yet.

    A job is kept whole: where the run was ended between the verdicts of two engines, the job is done again.

    Args:
        path: the results file.
        header: that of the run that resumes it.
        jobs: those of the run, in the order in which verdicts are written.
        engines: the names of the engines that each job gives a verdict on.

    Raises:
        UsageError: the file is of another run.
        ResultsError: the file cannot be read, or was changed since its run has written it.
        OSError: the file cannot be written.
    """
    if not _has_header(path):
        return begun(path, header)
    results = read(path, unfinished=True)
    old, new = dataclasses.asdict(results.header), dataclasses.asdict(header)
    differing = [name for name in new if old[name] != new[name]]
    if differing:
        remedy = "choose another folder" if "target" in differing else "leave out --resume to begin anew"
        raise UsageError(
            f"--resume: {path} is of another run: it has {_shown(old, differing)}, this run has "
            f"{_shown(new, differing)}: repeat its options, or {remedy}"
        )
    documented = [document.optimizer for document in results.documents]
    if documented != header.optimizers[: len(documented) if not results.verdicts else None]:
        raise ResultsError(f"{path}: {CHANGED}")
    results.verdicts[:] = _whole(path, results.verdicts, jobs, engines)
    cut(path, results)
    return results


def jobs_done(verdicts: Sequence[Verdict]) -> int:
    """Return how many jobs have given these verdicts, which are in the order of the jobs."""
    return sum(1 for _ in groupby(verdicts, key=_job))


def _whole(path: Path, verdicts: Sequence[Verdict], jobs: Sequence[Job], engines: Collection[str]) -> list[Verdict]:
    """Return the verdicts without those of a last job that lacks some.

    Raises:
        ResultsError: they are not those of the jobs.
    """
    groups = [list(group) for _, group in groupby(verdicts, key=_job)]
    if [_job(group[0]) for group in groups] != [(job.optimizer, job.dtypes[0]) for job in jobs[: len(groups)]]:
        raise ResultsError(f"{path}: {CHANGED}")
    if groups and not set(engines) <= {verdict.engine for verdict in groups[-1]}:
        groups.pop()
    return [verdict for group in groups for verdict in group]


def _has_header(path: Path) -> bool:
    return path.exists() and b"\n" in path.read_bytes()


def _job(verdict: Verdict) -> tuple[str, str]:
    return verdict.optimizer, verdict.dtype


def _shown(fields: dict[str, Any], names: Sequence[str]) -> str:
    """Write fields of a header, lists as words."""
    texts = {name: " ".join(fields[name]) if isinstance(fields[name], list) else fields[name] for name in names}
    return ", ".join(f"{name} = {shorten(str(text), SHOWN, placeholder=' ...')}" for name, text in texts.items())
