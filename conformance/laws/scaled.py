"""The law of a run that takes gradients as a loss scaler gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.laws.law import Trial, first_difference, is_rule, law
from optimetry.conformance.numerics.arrays import flat, same_bits
from optimetry.conformance.targets.session import Session, watched

SCALE = 4.0
"""A power of two, by which scaling back is exact."""


@law(
    "scaled gradients give the step of the gradients, and a step with an infinite one changes nothing", applies=is_rule
)
def scaled_gradients(trial: Trial) -> str | None:
    """Where the case's gradients are finite, scaled as well, and the target offers `Run.step_scaled`."""
    case = trial.case
    with np.errstate(over="ignore"):
        scaled = [[None if g is None else np.array(g * SCALE, g.dtype) for g in row] for row in case.grads]
    if not all(g is None or np.isfinite(g).all() for row in scaled for g in row):
        return None
    with watched(trial.guard):
        plain = Session(trial.target, case)
        run: Any = Session(trial.target, case).run
        if not hasattr(run, "step_scaled"):
            return None
        before = flat(case.parameters)
        for (grads, rate), given in zip(case.steps, scaled, strict=True):
            overflown = [None if g is None else np.full_like(g, np.inf) for g in given]
            kept = flat(run.step_scaled(overflown, rate, SCALE)).copy()
            if not same_bits(kept, before):
                return first_difference((kept != before)[None], kept[None], before[None])
            a, b = flat(plain.step(grads, rate)).copy(), flat(run.step_scaled(given, rate, SCALE)).copy()
            if not same_bits(a, b):
                return first_difference((a != b)[None], a[None], b[None])
            before = b
    return None
