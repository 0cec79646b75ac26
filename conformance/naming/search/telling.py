"""Draws the short cases on which a formula is searched for: ordinary magnitudes of both signs, at telling numbers.

The probes of a family tell its members apart, and no more: one may hold no negative gradient. What is drawn here shows
every part of a formula at its own size, so that most edits change some number of some step.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.offered import UNLIMITED, Limits
from optimetry.conformance.naming.families import SETTINGS
from optimetry.conformance.naming.families.family import Setting
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.subject import Subject

SCALES = (1.0, 0.1, 3.0, 0.3, 1.0)
"""The scale of the gradients in each step: a limit is passed in some, and in others not."""

ELEMENTS = 8
"""Of the one tensor of a rule whose elements are independent."""

TENSORS = ((3,),) * 7
"""Where they are not: two parameters are zero, and two gradients of the first step, those of one tensor both; one
parameter is large, and one tensor small."""

LARGE, SMALL = 30.0, 1e-8
"""Of a tensor whose norm is beyond every usual limit, and of one whose norm is beside the numbers that guard it."""


NUMBERS: dict[str, tuple[dict[str, Any], ...]] = {
    "model_average": tuple(
        {"average_window_rate": rate, "min_average_window": least, "max_average_window": most}
        for rate, least, most in ((0.7, 1, 5), (1.0, 1, 2), (0.5, 2, 5))
    )
}
"""The numbers of a wrapper whose corners, one by one, do not show every part of it: here each limit counts once."""


@cache
def telling_cases(optimizer: str, dtype: str, limits: Limits = UNLIMITED) -> tuple[Case, ...]:
    """Return one case for each setting of a rule's family, as far as offered; one where the rule has no family.

    Empty for rules that treat rows and columns differently: their formulas are not traced, and so not searched.
    """
    form = FORMATS[dtype]
    subject = subject_named(optimizer)
    if subject.shaped:
        return ()
    shapes = ((ELEMENTS,),) if subject.elementwise else TENSORS
    cases = []
    for number, setting in enumerate(_settings(subject)):
        rng = np.random.default_rng([number, *optimizer.encode()])
        params = [_drawn(rng, shape) for shape in shapes]
        grads = [[scale * _drawn(rng, shape) for shape in shapes] for scale in SCALES]
        if subject.elementwise:
            params[0][1], grads[0][0][2], grads[1][0][3] = 0.0, 0.0, 0.0
        else:
            params[1], params[3], grads[0][2], grads[0][3] = np.zeros((4, *shapes[0]))
            params[5] *= LARGE
            params[6] *= SMALL
            for row in grads:
                row[6] *= SMALL
        case = Case(
            optimizer=optimizer,
            dtype=dtype,
            hyper={**subject.of(setting.hyper).hyper()},
            learning_rates=tuple(setting.rates[step % len(setting.rates)] for step in range(len(SCALES))),
            parameters=tuple(array.astype(form.dtype) for array in params),
            grads=tuple(tuple(array.astype(form.dtype) for array in row) for row in grads),
        )
        cases.append(limits.offered(case))
    return tuple(cases)


@cache
def neutral_cases(optimizer: str, dtype: str, limits: Limits = UNLIMITED) -> tuple[tuple[Case, ...], ...]:
    """Return the telling cases with each hyperparameter at 0 that may be 0, then with all of these at 0."""
    names = [x.name for x in subject_named(optimizer).hyperparameters() if x.kind is float and 0.0 in x.corners]
    sets = [*((name,) for name in names), *[tuple(names)] * (len(names) > 1)]
    return tuple(
        tuple(
            limits.offered(case.replace(hyper={**case.hyper, **dict.fromkeys(zeros, 0.0)}))
            for case in telling_cases(optimizer, dtype, limits)
        )
        for zeros in sets
    )


def _settings(subject: Subject) -> list[Setting]:
    """Return the telling numbers of the family, also with other counts; or else two corners of every number."""
    known = list(SETTINGS.get(subject.name, ()))
    if known:
        counts = {x.name: x.corners[-1] for x in subject.hyperparameters() if x.kind is int}
        return [*known, *[dataclasses.replace(known[0], hyper={**known[0].hyper, **counts})] * bool(counts)]
    if subject.name in NUMBERS:
        return [Setting(hyper) for hyper in NUMBERS[subject.name]]
    corners = [
        {x.name: x.corners[number] for x in subject.hyperparameters() if len(x.corners) > number} for number in range(2)
    ]
    return [Setting(hyper) for hyper in (corners if corners[0] else corners[:1])]


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(rng.choice((-1.0, 1.0), shape) * 10.0 ** rng.uniform(-1.0, 0.4, shape))
