"""Holds what a target was fed and gave as matrices, on which thousands of formulas are evaluated together.

A row is a tensor, or one element where elements are independent of each other; of a wrapper that looks at tensors it is
all tensors of a case, as a matrix. Formulas are evaluated in double precision. Each step begins with the parameter that
the target gave in the step before, so that a wrong step shows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.formulas.programs import GRAD, PARAM, RATE, STEP
from optimetry.conformance.numerics.arrays import Array, equal
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, WrapperSubject
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.declaration import Declared

Runs = Sequence[tuple[Case, Array]]
"""What a target was fed, and its trajectory, shape (steps, elements)."""

DIGITS = 2 / 3
"""The part of a dtype's digits in which a formula must agree with the target to be held against the bound at all."""


def runs_of(target: Target, cases: Iterable[Case], guard: Guard) -> Runs:
    """Run a target on every case.

    Raises:
        TargetFault: the target breaks the protocol.
    """
    return [(case, trajectory(target, case, guard)) for case in cases]


@dataclass(frozen=True)
class Fed:
    """Tensors of one size, each with the steps in which it has a gradient.

    Attributes:
        inputs: the hyperparameters as columns, the parameter and the gradient as matrices, of each step.
        after: what the target gave in each step, shape (rows, size); of wrappers (rows, tensors, size).
        near: the largest distance from `after` that agrees, same shape; infinite where a tensor has no such step.
    """

    inputs: Sequence[dict[str, Any]]
    after: Sequence[Array]
    near: Sequence[Array]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of every matrix."""
        return tuple(self.after[0].shape)

    def some_rows(self, count: int) -> Fed:
        """Return the same with a few of the rows, of different cases where there are several."""
        rows = np.linspace(0, len(self.after[0]) - 1, count).astype(int)

        def taken(value: Any) -> Any:
            return value[rows] if np.ndim(value) else value

        inputs = [{name: taken(value) for name, value in step.items()} for step in self.inputs]
        return Fed(inputs, [*map(taken, self.after)], [*map(taken, self.near)])

    def agree(self, step: int, values: Any) -> Any:
        """Check which formulas agree with the target in one step, shape (formulas, rows, size)."""
        after, near = self.after[step], self.near[step]
        same = (np.abs(values - after) <= near) | equal(values, after)
        return (same | np.isinf(near)).reshape(-1, after.size).all(axis=1)

    def apart(self, step: int, values: Any) -> float:
        """The largest distance of a formula from the target in one step, in units of `near`."""
        far = np.abs(values - self.after[step]) / self.near[step]
        return float(np.nanmax(far, initial=0.0))


def fed_in(runs: Runs, roundoff: float, formula: Callable[[Mapping[str, Any]], Declared]) -> list[Fed]:
    """Sort all tensors of all runs by their size; empty ones, and those without any gradient, are left out.

    Args:
        runs: what a target was fed, and gave.
        roundoff: of the least precise numbers that it may hold.
        formula: makes the formula that is edited from the hyperparameters of a case, which it may name otherwise.
    """
    rows: dict[tuple[int, ...], list[_Row]] = {}
    for case, after in runs:
        computed = formula(case.hyper)
        tensors = list(_rows(case, computed.hyper(), after))
        if computed.elementwise:
            independent = [row.only([element]) for row in tensors for element in range(row.shape[0])]
        else:
            independent = [_side_by_side(tensors)] if tensors and isinstance(computed, Wrapper) else tensors
        for row in independent:
            rows.setdefault(row.shape, []).append(row)
    return [_together(alike, roundoff) for alike in rows.values()]


@dataclass(frozen=True)
class _Row:
    """One tensor: in each step that has a gradient, the parameter before it, the gradient, the rate and the result.

    Or several of one size side by side, each array of shape (steps, tensors, size).
    """

    hyper: Mapping[str, Any]
    params: Array
    grads: Array
    rates: Sequence[float]
    after: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.after.shape[1:])

    def only(self, columns: Sequence[int]) -> _Row:
        return _Row(self.hyper, self.params[:, columns], self.grads[:, columns], self.rates, self.after[:, columns])


def _rows(case: Case, hyper: Mapping[str, Any], after: Array) -> list[_Row]:
    ends = np.cumsum([param.size for param in case.parameters])
    rows = []
    for i, (param, result) in enumerate(zip(case.parameters, np.split(after, ends[:-1], axis=1), strict=True)):
        steps = [step for step, grads in enumerate(case.grads) if grads[i] is not None]
        if param.size and steps:
            wide = result[steps].astype(np.float64)
            start = param.reshape(1, -1).astype(np.float64)
            wraps = isinstance(subject_named(case.optimizer), WrapperSubject)
            before = np.repeat(start, len(steps), axis=0) if wraps else np.vstack([start, wide[:-1]])
            grads = np.array([np.asarray(case.grads[step][i], np.float64).reshape(-1) for step in steps])
            rows.append(_Row(hyper, before, grads, [case.learning_rates[step] for step in steps], wide))
    return rows


def _side_by_side(rows: Sequence[_Row]) -> _Row:
    """Put the tensors of a case, which are of one size, side by side, as one may depend on the others."""
    params, grads, after = (
        np.stack(arrays, axis=1) for arrays in zip(*((x.params, x.grads, x.after) for x in rows), strict=True)
    )
    return _Row(rows[0].hyper, params, grads, rows[0].rates, after)


def _together(rows: Sequence[_Row], roundoff: float) -> Fed:
    """Stack rows of one size; the last step of the shorter ones stands for those that they lack."""
    steps = max(len(row.rates) for row in rows)
    taken = [[min(step, len(row.rates) - 1) for row in rows] for step in range(steps)]

    def column(numbers: Sequence[Any]) -> Array:
        return np.array(numbers).reshape(-1, *(1 for _ in rows[0].shape))

    hyper = {name: column([row.hyper[name] for row in rows]) for name in rows[0].hyper}
    largest = [np.maximum.accumulate(np.fmax(np.abs(row.after), np.abs(row.params))) for row in rows]
    inputs, after, near = [], [], []
    for step, last in enumerate(taken):
        fed = list(zip(rows, last, strict=True))
        rates = column([row.rates[at] for row, at in fed])
        param, grad = np.array([row.params[at] for row, at in fed]), np.array([row.grads[at] for row, at in fed])
        inputs.append({**hyper, PARAM: param, GRAD: grad, RATE: rates, STEP: step + 1})
        after.append(np.array([row.after[at] for row, at in fed]))
        room = [size[at] * roundoff**DIGITS for size, at in zip(largest, last, strict=True)]
        there = column([step < len(row.rates) for row in rows])
        near.append(np.where(there, np.array(room) + np.finfo(np.float64).tiny, np.inf))
    return Fed(inputs, after, near)
