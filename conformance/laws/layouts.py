"""The law of memory: a result depends on the elements of arrays, not on where they lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optimetry.conformance.harness.python_harness import COLUMNS, GAPS, OFFSET, ROWS
from optimetry.conformance.laws.law import Trial, is_elementwise, law, prefixed
from optimetry.conformance.laws.variations import largest
from optimetry.conformance.numerics.arrays import Array, same_bits

LAYOUTS = ((COLUMNS, ROWS), (ROWS, COLUMNS), (COLUMNS, COLUMNS), (GAPS, ROWS), (GAPS, GAPS), (OFFSET, ROWS))
"""How parameters lie, and how gradients do. Where both lie alike, what is made in rows is the state."""

FORM = (4, 6)
"""The shape of the parameter, in which a transposed element is another."""

SEVERAL = 3
"""The steps of a run: what the state of a second step is made of has been laid out by the optimizer."""


@law("how arrays lie in memory does not matter, only their elements", applies=is_elementwise)
def memory_layout(trial: Trial) -> str | None:
    """Where the target says `Target.strided`: a transposed matrix, a slice of a wider one, a part of a buffer.

    A target whose elements depend on each other is for other laws: it may add them up in the order of memory.
    """
    case = largest(trial.case).upto(SEVERAL)
    if not getattr(trial.target, "strided", False) or not case.elements:
        return None
    rows = trial.on(case.each(_matrix))
    disturbed = replace(rows, ran=[]).on(rows.case.mapped(grad=_first_changed))  # no part of a counterexample
    others = [rows.on(rows.case.replace(layouts=layouts)) for layouts in LAYOUTS]
    rows.ahead(disturbed, *others)
    plain = rows.run()
    if not same_bits(plain[:, 1:], disturbed.run()[:, 1:]):
        return None
    for other in others:
        if (contradiction := rows.agrees(plain, other.run())) is not None:
            return prefixed(f"{other.case.lying}: ", contradiction)
    return None


def _matrix(array: Array) -> Array:
    """Return the elements of an array as a matrix of which no two are the same."""
    size = FORM[0] * FORM[1]
    ramp = (1 - np.arange(size) / 32).reshape(FORM)
    with np.errstate(all="ignore"):
        return np.asarray(np.resize(array, FORM) * ramp.astype(array.dtype))


def _first_changed(grad: Array) -> Array:
    """Return a gradient with another first element."""
    changed = grad.copy()
    with np.errstate(all="ignore"):
        changed.flat[0] += changed.flat[0] + grad.dtype.type(1)
    return changed
