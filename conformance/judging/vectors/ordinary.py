"""Chooses the ordinary cases of a set of test vectors: drawn, mostly small, and each with what it tells apart.

A set has the cases that tell the rule apart from another of its dialects or have another trait, and others up to a
budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.numerics.agreement import Agreement, Expected, compare
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.numerics.formats import flushing
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.reference.books import BOOKS

SEED = 0
"""What the cases are drawn from."""

TRIED = 160
"""How many cases are drawn to choose among."""

LARGEST = 150
"""Elements of a vector, over all steps: larger ones tell little more, and are chosen for what no smaller one tells."""

BUDGET, RULES = 900, 14
"""Elements of a set, over all steps, and for so many rules of a book: with more, each has less, which keeps every book
below 2 MB. What has another trait is added."""

LARGE = 1000.0
"""Gradients above it show clips that nobody has asked for."""


def candidates(optimizer: str, dtype: str) -> Iterator[Case]:
    """Yield the cases that vectors are chosen among: small ones with something to update, then the others by size."""
    drawn = [case for case in drawn_cases(subject_named(optimizer), dtype, seed=SEED, count=TRIED) if case.elements]
    yield from (case for case in drawn if case.elements <= LARGEST)
    yield from sorted((case for case in drawn if case.elements > LARGEST), key=lambda case: case.elements)


def chosen(optimizer: str, dtype: str) -> list[tuple[Case, list[Dialect]]]:
    """Choose the cases of a set, each with the dialects that it tells apart from the rule."""
    selected: list[tuple[Case, list[Dialect]]] = []
    left, seen, cost = list(DIALECTS.get(optimizer, ())), set[Any](), 0
    budget = BUDGET * min(1.0, RULES / len(BOOKS[subject_named(optimizer).book]))
    for case in candidates(optimizer, dtype):
        size, traits = case.elements, set(_traits(case))
        if size > LARGEST and not left:
            break
        fits = size <= LARGEST and (cost + size <= budget or not traits <= seen)
        flags = [
            dialect for dialect in DIALECTS.get(optimizer, ()) if (fits or dialect in left) and not _same(case, dialect)
        ]
        if fits or flags:
            selected.append((case, flags))
            left, seen, cost = [dialect for dialect in left if dialect not in flags], seen | traits, cost + size
    return selected


def _traits(case: Case) -> Iterator[Any]:
    """Yield what a set should contain: corners of hyperparameters, and gradients that rest, vanish or are large."""
    for declared in subject_named(case.optimizer).hyperparameters():
        if case.hyper[declared.name] in declared.corners:
            yield declared.name, case.hyper[declared.name]
    alike = any(first.shape == second.shape for first, second in pairwise(case.parameters))
    for grads in zip(*case.grads, strict=True):
        pattern = "".join("x" if grad is not None else "-" for grad in grads)
        if "x-" in pattern and "-x" in pattern[pattern.index("x") :]:
            yield "a gradient that is missing for a time"
        if "-" in pattern and alike:
            yield "a gradient that is missing beside a parameter of the same shape"
        arrays = [grad for grad in grads if grad is not None]
        if any(np.any((before != 0) & (after == 0)) for before, after in pairwise(arrays)):
            yield "an element whose gradient vanishes"
        if any(np.any(np.abs(grad) > LARGE) for grad in arrays):
            yield "a large gradient"


def _same(case: Case, dialect: Dialect) -> bool:
    """Whether a dialect, computed in the dtype, is within the slack on a case."""
    run: Any = run_of(dialect.of(case.hyper), [param.copy() for param in case.parameters])
    with np.errstate(all="ignore"):
        after = [
            run.step([None if grad is None else grad.copy() for grad in grads], rate) for grads, rate in case.steps
        ]
    return not rejects(case, after)


def rejects(case: Case, after: Sequence[Sequence[Array]]) -> bool:
    """Whether a vector of this case rejects a trajectory: the parameters after each step."""
    rows = np.array(list(map(flat, after)), case.form.dtype)
    agreement: Agreement = compare(rows, judged(case), case.form)
    return not agreement.conforms


def judged(case: Case) -> Expected:
    """Evaluate the documented rule; the bound allows for flushed subnormals, which are arithmetic and no other rule."""
    return expected(case, form=flushing(case.form))
