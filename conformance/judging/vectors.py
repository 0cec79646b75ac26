"""Writes test vectors: cases with their expected values and allowed errors, to judge by without running optimetry.

A set of vectors is made for one rule and dtype: small cases drawn with a fixed seed, those that tell the rule
apart from another of its dialects or have another trait, and others up to a budget. What a vector tells apart are its
flags.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.numerics.agreement import SLACK, Agreement, Expected, compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.numpy.target import run_of

SCHEMA = 1
"""The version of the form of the files; `vectors.schema.json` describes it."""

SEED = 0
"""What the cases are drawn from."""

DTYPES = ("float32", "float64")
"""The dtypes for which vectors are made."""

TRIED = 160
"""How many cases are drawn to choose among."""

LARGEST = 150
"""Elements of a vector, over all steps: larger ones tell little more."""

BUDGET = 900
"""Elements of a set, over all steps, which keeps every book below 2 MB; what has another trait is added."""

LARGE = 1000.0
"""Gradients above it show clips that nobody has asked for."""

DIGITS = 2
"""Hexadecimal digits of an allowed error, which is rounded up."""


def candidates(optimizer: str, dtype: str) -> Iterator[Case]:
    """Yield the cases that vectors are chosen among: small, and with something to update."""
    drawn = drawn_cases(subject_named(optimizer), dtype, seed=SEED, count=TRIED)
    return (case for case in drawn if 0 < case.size * len(case.grads) <= LARGEST)


def chosen(optimizer: str, dtype: str) -> list[tuple[Case, list[Dialect]]]:
    """Choose the cases of a set, each with the dialects that it tells apart from the rule."""
    found: list[tuple[Case, list[Dialect]]] = []
    left, seen, cost = list(DIALECTS.get(optimizer, ())), set[Any](), 0
    for case in candidates(optimizer, dtype):
        size, traits = case.size * len(case.grads), set(_traits(case))
        fits = cost + size <= BUDGET or not traits <= seen
        told = [one for one in DIALECTS.get(optimizer, ()) if (fits or one in left) and not _same(case, one)]
        if fits or told:
            found.append((case, told))
            left, seen, cost = [one for one in left if one not in told], seen | traits, cost + size
    return found


def _traits(case: Case) -> Iterator[Any]:
    """Yield what a set should contain: corners of hyperparameters, and gradients that rest, vanish or are large."""
    for one in subject_named(case.optimizer).hyperparameters():
        if case.hyper[one.name] in one.corners:
            yield one.name, case.hyper[one.name]
    alike = any(one.shape == other.shape for one, other in pairwise(case.parameters))
    for grads in zip(*case.grads, strict=True):
        given = "".join("x" if grad is not None else "-" for grad in grads)
        if "x-" in given and "-x" in given[given.index("x") :]:
            yield "a gradient that is missing for a time"
        if "-" in given and alike:
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
    flat = np.array([np.concatenate([array.reshape(-1) for array in arrays]) for arrays in after], case.form.dtype)
    agreement: Agreement = compare(flat, expected(case), case.form)
    return not agreement.conforms


def document(optimizer: str, dtype: str) -> dict[str, Any]:
    """Return the set of vectors of one rule and dtype, as JSON has it: the same for the same version of optimetry."""
    subject, sets = subject_named(optimizer), chosen(optimizer, dtype)
    told = {dialect.name: dialect for _, dialects in sets for dialect in dialects}
    return {
        "schema": SCHEMA,
        "book": subject.book,
        "optimizer": optimizer,
        "document": subject.document,
        "dtype": dtype,
        "seed": SEED,
        "flags": {name: _meaning(told[name]) for name in sorted(told)},
        "vectors": [_vector(case, dialects, number) for number, (case, dialects) in enumerate(sets)],
    }


def text_of(found: Mapping[str, Any]) -> str:
    """Return a set as the text of its file: one vector a line."""
    head = {name: value for name, value in found.items() if name != "vectors"}
    lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in found["vectors"])
    return f'{json.dumps(head, separators=(",", ":"))[:-1]},"vectors":[\n{lines}\n]}}\n'


def _meaning(dialect: Dialect) -> dict[str, str]:
    return {"means": dialect.difference, "computed_by": dialect.origin, "reference": dialect.reference}


def _vector(case: Case, dialects: Sequence[Dialect], number: int) -> dict[str, Any]:
    fields = json.loads(case.to_json())
    oracle = expected(case)
    value, allowed = rounded(oracle, case)
    shapes, ends = [param.shape for param in case.parameters], np.cumsum([param.size for param in case.parameters])
    return {
        "id": f"{case.optimizer}-{case.dtype}-{number:02d}",
        "flags": sorted(dialect.name for dialect in dialects),
        **{name: fields[name] for name in ("hyper", "learning_rates", "parameters", "grads")},
        "expected": [
            [part.tobytes().hex() for part, _ in zip(np.split(row, ends[:-1]), shapes, strict=True)] for row in value
        ],
        "allowed": [[" ".join(map(short, part)) for part in np.split(row, ends[:-1])] for row in allowed],
    }


def rounded(oracle: Expected, case: Case) -> tuple[Array, Any]:
    """Return the expected value in the case's dtype, and how far from it is allowed, infinite where nothing is known.

    The allowed error is the slack times the bound, and what the value has lost by rounding.
    """
    with np.errstate(all="ignore"):
        value = oracle.value.astype(case.form.dtype)
        lost = np.abs(value.astype(oracle.value.dtype) - oracle.value)
        allowed = np.asarray(oracle.bound * SLACK + lost, np.float64)
        known = oracle.known & np.isfinite(value.astype(np.float64))
    return value, np.where(known, allowed, np.inf)


def short(number: float) -> str:
    """Write a positive number as a hex float with few digits, rounded up."""
    if number == 0 or not math.isfinite(number):
        return "0x0p+0" if number == 0 else "inf"
    mantissa, exponent = math.frexp(number)
    units = math.ceil(math.ldexp(mantissa, 4 * DIGITS + 1)) + 1  # one more, for the rounding of a reader's difference
    return re.sub(r"\.?0*p", "p", math.ldexp(units, exponent - 4 * DIGITS - 1).hex())


def accepts(found: Mapping[str, Any], after: Sequence[Sequence[Array]]) -> bool:
    """Whether a vector accepts a trajectory, the parameters after each step: what a reader does, in three lines."""
    with np.errstate(all="ignore"):
        for arrays, values, errors in zip(after, found["expected"], found["allowed"], strict=True):
            for array, bits, allowed in zip(arrays, values, errors, strict=True):
                value = np.frombuffer(bytes.fromhex(bits), array.dtype).astype(np.float64)
                limit = np.array([float.fromhex(one) for one in allowed.split()])
                distance = np.abs(array.reshape(-1).astype(np.float64) - value)
                if not np.all((distance <= limit) | np.isinf(limit) | (array.reshape(-1) == value)):
                    return False
    return True
