"""Measures the effect of a difference: how far parameters end apart, as a share of how far the document moves them."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import documented_defaults
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory

STEPS, ELEMENTS = 100, 1000


def effect(target: Target, case: Case, guard: Guard | None = None) -> float | None:
    """Return the largest difference of a parameter after any step, as a share of the rule's largest change.

    The case is made one that the target offers; None where there is no such.
    """
    case = limits_of(target, case.optimizer).offered(case)
    if reason_unsupported(target, case) is not None:
        return None
    after = trajectory(target, case, guard or Guard()).astype(np.float64)
    documented = np.asarray(expected(case).value, np.float64)
    start = flat(case.parameters).astype(np.float64)
    with np.errstate(all="ignore"):
        moved = np.nanmax(np.abs(documented - start), initial=0.0)
        known = np.isfinite(documented)
        apart = np.where(known & ~np.isfinite(after), np.inf, np.abs(after - documented))
        furthest = np.max(apart[known], initial=0.0)
    return float(furthest / moved) if moved else float(np.inf if furthest else 0.0)


def default_case(optimizer: str, dtype: str, scale: float) -> Case:
    """Make a run with default hyperparameters and normally distributed gradients of one scale."""
    rng = np.random.default_rng(0)
    kind = FORMATS[dtype].dtype
    hyper, learning_rate = documented_defaults(subject_named(optimizer))
    return Case(
        optimizer=optimizer,
        dtype=dtype,
        hyper=hyper,
        learning_rates=(learning_rate,) * STEPS,
        parameters=(rng.standard_normal(ELEMENTS).astype(kind),),
        grads=tuple(((rng.standard_normal(ELEMENTS) * scale).astype(kind),) for _ in range(STEPS)),
    )
