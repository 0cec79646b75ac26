"""Finds the rules whose update uses t, and the case that shows what t counts."""

from __future__ import annotations

import dataclasses
import dis
from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.families.family import step_count
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import STEP_COUNT
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Rule

STEP = "t"
"""The argument of an update that numbers the step."""


@cache
def with_step_count(optimizer: str) -> type[Declared]:
    """Return the documented formula, with the field of `step_count` where its update uses t."""
    documented: Any = subject_named(optimizer).declaration  # mypy does not take every type of a type for hashable
    return counting(documented) if issubclass(documented, Rule) and uses_step(documented) else documented


@cache
def counting(formula: type[Declared]) -> type[Declared]:
    """Return a formula with the field of `step_count`."""
    if hasattr(formula, STEP_COUNT):
        return formula
    field = (STEP_COUNT, str, step_count())
    return dataclasses.make_dataclass(formula.__name__, [field], bases=(formula,), frozen=True, kw_only=True)


def uses_step(rule: type[Rule]) -> bool:
    """Return whether the update of a rule reads the number of the step."""
    read = (
        instruction.argval
        for instruction in dis.get_instructions(rule.update)
        if instruction.opname.startswith("LOAD_")
    )
    return any(name == STEP or (isinstance(name, tuple) and STEP in name) for name in read)


COUNTED = ((False, False), (True, False), (True, False), (False, True), (True, True))
"""Which of two parameters has a gradient in each step of the case that shows how steps are counted.

One step is without any, and the parameters miss one step and two that the other has: every two ways of counting differ
in whether t is odd somewhere, and in which parameter has t = 1 in its first update.
"""


def counted(case: Case) -> Case:
    """Return the first tensor of a case twice, with missing gradients."""
    grads = [case.grads[step % len(case.grads)][0] for step in range(len(COUNTED))]
    return case.replace(
        parameters=case.parameters[:1] * 2,
        learning_rates=case.learning_rates[:1] * len(COUNTED),
        grads=tuple(
            tuple(grad if present else None for present in row) for grad, row in zip(grads, COUNTED, strict=True)
        ),
    )


def plain_case(optimizer: str, dtype: str) -> Case:
    """Return a short run of a rule without a family, at the last of the corners of each hyperparameter."""
    form = FORMATS[dtype]
    grads = ([1.0, -0.5, 3.0], [-2.0, 0.25, 1.5], [0.5, 4.0, -1.0], [3.0, -1.0, 0.75])
    return Case(
        optimizer=optimizer,
        dtype=dtype,
        hyper={x.name: x.corners[-1] if x.corners else x.default for x in subject_named(optimizer).hyperparameters()},
        learning_rates=(0.3,) * len(grads),
        parameters=(np.array([0.5, -2.0, 1.0]).astype(form.dtype),),
        grads=tuple((np.array(row).astype(form.dtype),) for row in grads),
    )
