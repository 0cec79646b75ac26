"""Lists what a run may do that its rule does not say: each a hypothesis over the whole run, none an edit of a formula.

A slot in less precision, a gradient of an earlier step, an update left out, a NaN replaced, a velocity dropped: a user
of a framework sees the rule, and these are beside it. See docs/decisions/0022.
"""

from __future__ import annotations

from functools import cache

from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs import (
    accumulated,
    decay,
    gradients,
    included,
    late,
    missing,
    moved,
    narrow_slots,
    precision,
    resized,
    returned,
    scaled,
    skipped,
    state,
    zeros,
)
from optimetry.conformance.subjects.subject import Subject

Tier = tuple[Mistake, ...]


@cache
def mistakes_of_runs(subject: Subject, dtype: str) -> tuple[Tier, ...]:
    """Return what a run of a subject may do, in tiers: first what shows on any case, then what further cases show."""
    lists = (
        *(precision.mistakes, late.mistakes, skipped.mistakes, state.mistakes, missing.mistakes),
        *(decay.mistakes, accumulated.mistakes, returned.mistakes),
    )
    of_gradients = (scaled.mistakes, gradients.replacing_finite, gradients.replacing_nonfinite)
    slots = (narrow_slots.mistakes, narrow_slots.computed_with)
    further = (
        *slots,
        state.begun_ahead,
        skipped.of_elements,
        *of_gradients,
        moved.mistakes,
        resized.mistakes,
        zeros.mistakes,
        included.mistakes,
    )
    first = tuple(mistake for listed in lists for mistake in listed(subject, dtype))
    return first, *(tuple(listed(subject, dtype)) for listed in further)
