"""Laws of the compression of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.law import Trial, first_difference, law, named
from optimetry.conformance.numerics.arrays import Array, apart, flat
from optimetry.reference.distributed.dgc_momentum import count_sent

is_dgc = named("dgc_compress")

TENS = (10, 30, 60, 70)
"""Sizes that are multiples of ten: all that are drawn are none."""


@law("without momentum, all that is fed is sent in the end, and once", universal=False, applies=is_dgc)
def conservation(trial: Trial) -> str | None:
    case = trial.case
    hyper = {**case.hyper, "momentum": 0.0, "use_nesterov": False}
    fed = [_whole_numbers(case, step) for step in range(len(case.grads))]
    sizes = [param.size for param in case.parameters]
    more = max((-(-size // count_sent(size, hyper["sparsity"])) for size in sizes if size), default=0)
    nothing = tuple(np.zeros_like(param) for param in case.parameters)
    results = trial.on(_fed(case, hyper, [*fed, *[nothing] * more])).run()
    must = np.sum([flat(row) for row in fed], axis=0, keepdims=True, dtype=np.float64)
    return _not_equal(np.sum(results, axis=0, keepdims=True, dtype=np.float64), must)


@law("with sparsity 0 and no look ahead, every gradient is sent as it is", universal=False, applies=is_dgc)
def dense(trial: Trial) -> str | None:
    case = trial.case
    fed = [_whole_numbers(case, step) for step in range(len(case.grads))]
    results = trial.on(_fed(case, {**case.hyper, "sparsity": 0.0, "use_nesterov": False}, fed)).run()
    return _not_equal(results, np.array([flat(row) for row in fed]))


@law("the largest entries are sent, as many as the sparsity says", universal=False, applies=is_dgc)
def largest_are_sent(trial: Trial) -> str | None:
    """Of sizes whose tenth part is a whole number as well, which `int(size * (1 - 0.9))` falls short of."""
    case = trial.case
    tenths = case.replace(
        hyper={**case.hyper, "sparsity": 0.9}, parameters=tuple(np.zeros(size, case.form.dtype) for size in TENS)
    )
    return next(filter(None, (_sent(trial, each) for each in (case, tenths))), None)


def _sent(trial: Trial, case: Case) -> str | None:
    """Describe where the first step does not send the largest entries."""
    fed, must = [], []
    for param in case.parameters:
        values = _different(case, param.size)
        least = np.sort(np.abs(values))[param.size - count_sent(param.size, case.hyper["sparsity"]) :]
        fed.append(values.reshape(param.shape))
        must.append(values * np.isin(np.abs(values), least))
    results = trial.on(_fed(case, {**case.hyper, "use_nesterov": False}, [tuple(fed)])).run()
    return _not_equal(results, flat(must)[None])


@law("no more are sent where entries are equal, whichever they are", universal=False, applies=is_dgc)
def equal_entries(trial: Trial) -> str | None:
    case = trial.case
    fed = [np.where(np.arange(param.size) % 3, 1, -1).astype(param.dtype) for param in case.parameters]
    rows = tuple(values.reshape(param.shape) for values, param in zip(fed, case.parameters, strict=True))
    results = trial.on(_fed(case, {**case.hyper, "use_nesterov": False}, [rows])).run()
    must = []
    for values, sent in zip(fed, apart(results[0], case.parameters), strict=True):
        chosen = np.argsort(sent.reshape(-1) != values, kind="stable")[
            : count_sent(values.size, case.hyper["sparsity"])
        ]
        must.append(np.where(np.isin(np.arange(values.size), chosen), values, 0))
    return _not_equal(results, np.concatenate(must)[None])


def _fed(case: Case, hyper: dict[str, Any], grads: Sequence[tuple[Array, ...]]) -> Case:
    """Return the case with other hyperparameters and other gradients."""
    return case.replace(hyper=hyper, grads=tuple(grads), learning_rates=(1.0,) * len(grads))


def _whole_numbers(case: Case, step: int) -> tuple[Array, ...]:
    """Return gradients of small whole numbers, whose sums are exact in every format."""
    return tuple(
        ((7 * np.arange(param.size) + 3 * step) % 23 - 11).astype(param.dtype).reshape(param.shape)
        for param in case.parameters
    )


def _different(case: Case, size: int) -> Array:
    """Return numbers of different magnitudes from 1 on, unsorted, every other one negative."""
    dtype = case.form.dtype
    raw = np.dtype(f"uint{8 * dtype.itemsize}")
    order = np.random.default_rng(size).permutation(size).astype(raw)
    values: Array = (np.ones(1, dtype).view(raw) + order).view(dtype)
    values[1::2] *= -1
    return values


def _not_equal(results: Any, must: Any) -> str | None:
    """Describe where a trajectory is first not what it must be."""
    return first_difference(results != must, results, must)
