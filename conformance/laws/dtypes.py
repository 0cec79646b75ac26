"""The law of a run that holds parameters of several dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import NotOffered, Trial, is_rule, law, prefixed
from optimetry.conformance.laws.variations import complete, switched_on
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.targets.session import Session, in_turn, watched
from optimetry.reference.errors import TargetFault

COPIES = 3
"""How many times a run has every parameter; in the middle, those of a run of two dtypes have the wider one."""


@law("a parameter beside others of another dtype is updated as beside those of its own", applies=is_rule)
def dtypes_are_independent(trial: Trial) -> str | None:
    """Where the target says `Target.mixes_dtypes`: the narrower dtype comes first and last, the wider in between.

    So what is taken from the first or the last parameter, such as the dtype of a state, is too narrow for some.
    """
    if not getattr(trial.target, "mixes_dtypes", False):
        return None
    own = switched_on(trial.on(complete(trial.case)))
    if not own.case.grads:
        return None
    other = "float64" if own.case.dtype == "float32" else "float32"
    dtypes = sorted((own.case.dtype, other), key=lambda name: FORMATS[name].dtype.itemsize)
    plain = [own.case if name == own.case.dtype else _in_dtype(own.case, name) for name in dtypes]
    narrow, wide = map(_copied, plain)
    apart = [_split(_own_run(own.on(case))) for case in (narrow, wide)]
    try:
        mixed = _mixed(own, narrow, wide)
    except TargetFault as fault:
        return f"in a run of two dtypes: {fault}"
    for where, rows in enumerate(mixed):
        case, parts = (plain[1], apart[1]) if where == 1 else (plain[0], apart[0])
        if (contradiction := own.on(case).agrees(parts[where], rows)) is not None:
            prefix = f"parameters in {case.dtype}, among those of {' and '.join(dtypes)}, and among their own: "
            return prefixed(prefix, contradiction)
    return None


def _own_run(trial: Trial) -> Array:
    """Run a target in one dtype; a fault there tells nothing of mixed dtypes, so the law is not tried."""
    try:
        return trial.run()
    except TargetFault as fault:
        raise NotOffered from fault


def _in_dtype(case: Case, dtype: str) -> Case:
    """Return the case in another dtype, with numbers that the dtype of the case does not have, where that is wider."""
    form = FORMATS[dtype]
    between = 1 + case.form.roundoff / 2

    def changed(array: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(array.astype(np.float64) * between).astype(form.dtype)

    return case.each(changed).replace(dtype=dtype)


def _copied(case: Case) -> Case:
    """Return the case with every parameter `COPIES` times."""
    return case.only([*range(len(case.parameters))] * COPIES)


def _split(rows: Array) -> list[Array]:
    """Cut a trajectory into those of the copies."""
    return np.split(rows, COPIES, axis=1)


def _mixed(trial: Trial, narrow: Case, wide: Case) -> list[Array]:
    """Train the copies in one run, those in the middle in the wider dtype; return the trajectory of each."""
    count = len(trial.case.parameters)
    second = slice(count, 2 * count)

    def merged(ends: Sequence[Array | None], middle: Sequence[Array | None]) -> tuple[Array | None, ...]:
        return (*ends[: second.start], *middle[second], *ends[second.stop :])

    case = narrow.replace(
        parameters=merged(narrow.parameters, wide.parameters),
        grads=tuple(merged(*rows) for rows in zip(narrow.grads, wide.grads, strict=True)),
    )
    rows: list[list[Array]] = [[] for _ in range(COPIES)]
    with watched(trial.guard):
        session = Session(trial.target, case)
        for after in in_turn(trial.target, (partial(session.step, *step) for step in case.steps)):
            for which, kept in enumerate(rows):
                kept.append(flat(after[which * count : (which + 1) * count]))
    return [np.array(kept) for kept in rows]
