"""Changes the hyperparameters of the cases that laws compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from optimetry.conformance.laws.law import Trial
from optimetry.conformance.subjects.registry import subject_of
from optimetry.reference.errors import OptimetryError


def with_options(trial: Trial, changes: Mapping[str, Any]) -> Trial:
    """Return a trial with other numbers: all of them, or else as many as the subject and the target take together."""
    case = trial.case
    for hyper in _choices(case.hyper, changes):
        try:
            subject_of(case).of(hyper)
        except OptimetryError:
            continue
        other = trial.on(case.replace(hyper=hyper))
        if other.offered:
            return other
    return trial


def switched_on(trial: Trial) -> Trial:
    """Return a trial in which no number is 0 that need not be, such as a decay: what has no effect shows no defect."""
    numbers = [x for x in subject_of(trial.case).hyperparameters() if x.kind is float]
    effective = {x.name: next((corner for corner in x.corners if corner), 0.0) for x in numbers}
    return with_options(trial, {name: x for name, x in effective.items() if x and not trial.case.hyper[name]})


def _choices(hyper: Mapping[str, Any], changes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield hyperparameters with all changes, with all but one, and with each alone."""
    yield {**hyper, **changes}
    yield from ({**hyper, **{name: x for name, x in changes.items() if name != left_out}} for left_out in changes)
    yield from ({**hyper, name: value} for name, value in changes.items())
