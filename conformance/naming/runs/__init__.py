"""Lists what a run may do that its rule does not say: each a hypothesis over the whole run, none an edit of a formula.

A slot in less precision, a gradient of an earlier step, an update left out, a NaN replaced: a user of a framework sees
the rule, and these are beside it. See docs/decisions/0022.
"""

from __future__ import annotations

from functools import cache

from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs import gradients, late, precision, skipped, state
from optimetry.conformance.subjects.subject import Subject


@cache
def mistakes_of_runs(subject: Subject, dtype: str) -> tuple[tuple[Mistake, ...], ...]:
    """Return what a run of a subject may do, in tiers: what shows on any case, then what needs other sizes, or a NaN."""
    lists = (precision.mistakes, late.mistakes, skipped.mistakes, state.mistakes, gradients.mistakes)
    found = [mistake for listed in lists for mistake in listed(subject, dtype)]
    return (
        tuple(found),
        tuple(skipped.of_elements(subject, dtype)),
        tuple(gradients.replacing_nonfinite(subject, dtype)),
    )
