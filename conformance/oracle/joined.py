"""Joins the parameters of a case whose elements are independent, so that they are evaluated as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array, flat

Group = tuple[tuple[int, ...], list[int]]
"""The steps in which parameters have no gradient, and the numbers of these parameters."""


def groups_of(case: Case, elementwise: bool) -> Iterator[Group]:
    """Group parameters to evaluate as one: where elements are independent, all that miss the same gradients."""
    groups: dict[Any, Group] = {}
    for i in range(len(case.parameters)):
        missing = tuple([step for step, grads in enumerate(case.grads) if grads[i] is None])
        _, group = groups.setdefault(missing if elementwise else i, (missing, []))
        group.append(i)
    yield from groups.values()


@lru_cache(maxsize=256)
def together(case: Case, elementwise: bool) -> tuple[Case, list[Any]]:
    """Return the case with each group of parameters joined into one, and the columns of each."""
    groups = [group for _, group in groups_of(case, elementwise)]
    return joined(case, groups), [columns_of(case, group) for group in groups]


def joined(case: Case, groups: list[list[int]]) -> Case:
    """Return the case with each group of parameters joined into one."""
    if all(len(group) == 1 for group in groups):
        return case.only([group[0] for group in groups])

    def flattened(arrays: Sequence[Array | None], group: list[int]) -> Array | None:
        chosen = [array for array in (arrays[i] for i in group) if array is not None]
        return flat(chosen) if chosen else None

    return case.replace(
        parameters=tuple(x for group in groups if (x := flattened(case.parameters, group)) is not None),
        grads=tuple(tuple(flattened(grads, group) for group in groups) for grads in case.grads),
    )


def columns_of(case: Case, group: list[int]) -> Array:
    """Return where the elements of some parameters stand among those of the case."""
    starts = [0, *accumulate(param.size for param in case.parameters)]
    return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in group])
