"""Finds where a target that nothing explains computes a known rule after all: where a property holds, or at first.

It says where to look for a mistake: what is as documented without weight decay has it in the decay.
"""

from __future__ import annotations

import numpy as np

from optimetry.conformance.judging.identifying.observed import Observed
from optimetry.conformance.judging.identifying.splitting import Splitting
from optimetry.conformance.naming.candidates import FLUSHED
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class, named_classes
from optimetry.conformance.naming.splits import properties
from optimetry.conformance.numerics.agreement import contradicted
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.errors import TargetFault
from optimetry.reports.parts import UNKNOWN, Part

STEP = "step"

LEAST_DETERMINED = 1 / 2
"""The share of the elements in the first steps whose bound must be finite."""


def known_cases(observed: Observed) -> list[Part]:
    """Find a property of cases, or the first steps of all, in which a known rule explains a target.

    Returns:
        What it computes elsewhere, which is not known, and there; nothing where there is no such property.
    """
    return _with_a_property(observed) or _at_first(observed)


def _with_a_property(observed: Observed) -> list[Part]:
    optimizer = observed.optimizer
    known = [Explanation(rule, FLUSHED) for rule in (documented_class(optimizer), *named_classes(optimizer))]
    side = next(Splitting(observed).known_sides(list(properties(subject_named(optimizer))), known), None)
    if side is None:
        return []
    by, holds, explanation = side
    here, elsewhere = by.where if holds else reversed(by.where)
    return [Part(UNKNOWN, elsewhere), Part(explanation.rule.name, here)]


def _at_first(observed: Observed) -> list[Part]:
    """Find how many steps of every case the documented rule explains, if it determines most of what they give.

    Nothing is said of a target that breaks the protocol in some case, which need not be the one that rejects it.
    """
    documented = Explanation(documented_class(observed.optimizer), FLUSHED)
    try:
        runs = [(observed.run(case), documented.expected(case)) for case in observed.offered(observed.cases())]
    except TargetFault:
        return []
    rows = [np.flatnonzero(contradicted(after, oracle).any(axis=1)) for after, oracle in runs]
    steps = min((int(row[0]) for row in rows if row.size), default=0)
    if steps == 0 or np.mean(np.concatenate([x.known[:steps].ravel() for _, x in runs])) < LEAST_DETERMINED:
        return []
    rule, first = documented.rule.name, steps + 1
    return [
        Part(UNKNOWN, {"property": STEP, "at_least": first}),
        Part(rule, {"property": STEP, "less_than": first}),
    ]
