"""Measures how far a target's parameters drift from those of the exact rule, on ordinary runs at the defaults.

A verdict is about the worst corner. This says what a user of the defaults sees: the documented rule is evaluated in
wide precision (float64 for the narrower formats, quad precision for float64) beside the target, step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.ordinary import KINDS, Gradients
from optimetry.conformance.harness.python_harness import engine_name
from optimetry.conformance.numerics.agreement import unit_of
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.formats import FORMATS, Format
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import documented_defaults
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reports.accuracy import LARGEST, Accuracy, Point, Spread

STEPS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
"""After how many steps errors are measured, and after the last of a run."""

DIGITS = 4
"""The significant digits that are kept of each figure: further ones describe the drawn gradients alone."""


@dataclass(frozen=True)
class WideNumbers:
    """Numbers in the wide precision of a format, without a bound.

    Attributes:
        form: the format.
    """

    form: Format

    def array(self, array: Array) -> Array:
        """Widen an input, exactly."""
        return array.astype(self.form.wide)

    def scalar(self, name: str, number: float) -> Array:
        """Take a number as documented, not as some format rounds it."""
        return np.asarray(np.float64(number)).astype(self.form.wide)


@dataclass(frozen=True)
class Exact:
    """What the documented rule gives, in wide precision.

    Attributes:
        start: the parameters before the first step, shape (elements,).
        after: the parameters after each step that is measured, same shape.
        unit: the unit in the last place of the largest magnitude so far, after each of these steps, float64.
    """

    start: Array
    after: dict[int, Array]
    unit: dict[int, Array]


def accuracy(target: Target, optimizer: str, dtype: str, gradients: str, steps: int, guard: Guard) -> Accuracy | None:
    """Measure one engine; None where it does not offer the rule.

    Args:
        target: the engine.
        optimizer: a rule's name.
        dtype: of its parameters.
        gradients: one of `KINDS`.
        steps: how long the run is.
        guard: what watches over it.

    Raises:
        TargetFault: as for `trajectory`.
    """
    case = ordinary_case(optimizer, dtype, gradients, steps)
    if reason_unsupported(target, case) is not None:
        return None
    exact = exactly(case)
    after = trajectory(target, case, guard)
    finite = np.all([np.isfinite(value.astype(np.float64)) for value in exact.after.values()], axis=0)
    return Accuracy(
        book=subject_named(optimizer).book,
        optimizer=optimizer,
        dtype=dtype,
        engine=engine_name(target),
        gradients=gradients,
        hyper=case.hyper,
        learning_rate=case.learning_rates[0],
        elements=int(np.count_nonzero(finite)),
        undefined=int(np.count_nonzero(~finite)),
        points=list(_points(after, exact, finite)),
    )


@lru_cache(maxsize=8)
def ordinary_case(optimizer: str, dtype: str, gradients: str, steps: int) -> Case:
    """Make a run at the documented defaults, of the parameters whose shapes the rule takes.

    Where elements are independent, they are one parameter: the same results in less time.
    """
    subject = subject_named(optimizer)
    hyper, learning_rate = documented_defaults(subject)
    parameters, grads = _taken(subject, *KINDS[gradients](steps))
    kind = FORMATS[dtype].dtype
    return Case(
        optimizer=optimizer,
        dtype=dtype,
        hyper=hyper,
        learning_rates=(learning_rate,) * steps,
        parameters=tuple(array.astype(kind) for array in parameters),
        grads=tuple(tuple(array.astype(kind) for array in arrays) for arrays in grads),
    )


def _taken(subject: Subject, parameters: list[Array], grads: Gradients) -> tuple[list[Array], Gradients]:
    kept = [i for i, array in enumerate(parameters) if subject.takes(array.shape)]
    if subject.elementwise:
        return [flat([parameters[i] for i in kept])], [[flat([arrays[i] for i in kept])] for arrays in grads]
    return [parameters[i] for i in kept], [[arrays[i] for i in kept] for arrays in grads]


@lru_cache(maxsize=8)
def exactly(case: Case) -> Exact:
    """Evaluate the documented rule in wide precision; cached for the other engines."""
    form = case.form
    start = flat(case.parameters).astype(form.wide)
    largest = np.abs(start.astype(np.float64))
    exact = Exact(start, {}, {})
    with np.errstate(all="ignore"):
        for step, arrays in enumerate(subject_named(case.optimizer).trajectory(case, WideNumbers(form)), start=1):
            value = flat(list(arrays))
            largest = np.fmax(largest, np.abs(value.astype(np.float64)))
            if step in STEPS or step == len(case.grads):
                exact.after[step], exact.unit[step] = value, unit_of(largest, form)
    return exact


def _points(after: Array, exact: Exact, finite: Array) -> Iterator[Point]:
    with np.errstate(all="ignore"):
        for step, value in exact.after.items():
            apart = np.abs(after[step - 1].astype(value.dtype) - value)[finite]
            moved = np.abs(value - exact.start)[finite]
            update = np.where(apart == 0, 0.0, (apart / moved).astype(np.float64))
            yield Point(
                step=step, ulp=_spread(apart.astype(np.float64) / exact.unit[step][finite]), update=_spread(update)
            )


def _spread(figures: Array) -> Spread:
    bounded = np.sort(np.nan_to_num(figures, nan=LARGEST, posinf=LARGEST).clip(max=LARGEST))
    median, p99, largest = (
        float(f"{bounded[int(np.ceil(share * len(bounded))) - 1]:.{DIGITS - 1}e}") if len(bounded) else 0.0
        for share in (0.5, 0.99, 1.0)
    )
    return Spread(median=median, p99=p99, largest=largest)
