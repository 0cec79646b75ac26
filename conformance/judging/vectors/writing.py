"""Writes test vectors: cases with their expected values and allowed errors, to judge by without running optimetry.

A set of vectors is made for one rule and dtype: ordinary cases, of which each has what it tells apart as its flags, and
extreme ones. Lists that are shorter than what they describe begin again: elements, tensors, steps.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.judging.vectors.extremes import FINITE, Vector, extremes
from optimetry.conformance.judging.vectors.ordinary import SEED, chosen, judged
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.numerics.arrays import Array, apart
from optimetry.conformance.subjects.registry import subject_named

SCHEMA = 2
"""The version of the form of the files; `vectors.schema.json` describes it."""

DTYPES = ("float32", "float64")
"""The dtypes for which vectors are made."""

DIGITS = 2
"""Hexadecimal digits of an allowed error, which is rounded up."""

LARGEST, MOST = float(np.finfo(np.float64).max), 1024
"""The allowed error where any finite number will do, and the first binary exponent beyond it."""


def document(optimizer: str, dtype: str) -> dict[str, Any]:
    """Return the set of vectors of one rule and dtype as a JSON object: the same for the same version of optimetry."""
    subject, cases = subject_named(optimizer), chosen(optimizer, dtype)
    flags = {dialect.name: dialect for _, dialects in cases for dialect in dialects}
    ordinary = [
        Vector.of(f"{number:02d}", case, sorted(dialect.name for dialect in dialects))
        for number, (case, dialects) in enumerate(cases)
    ]
    return {
        "schema": SCHEMA,
        "book": subject.book,
        "optimizer": optimizer,
        "document": subject.document,
        "dtype": dtype,
        "seed": SEED,
        "flags": {name: _meaning(flags[name]) for name in sorted(flags)},
        "vectors": [written(vector) for vector in (*ordinary, *extremes(optimizer, dtype))],
    }


def text_of(vector_set: Mapping[str, Any]) -> str:
    """Return a set as the text of its file: one vector a line."""
    head = {name: value for name, value in vector_set.items() if name != "vectors"}
    lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in vector_set["vectors"])
    return f'{json.dumps(head, separators=(",", ":"))[:-1]},"vectors":[\n{lines}\n]}}\n'


def _meaning(dialect: Dialect) -> dict[str, str]:
    return {"means": dialect.difference, "computed_by": dialect.origin, "reference": dialect.reference}


def written(vector: Vector) -> dict[str, Any]:
    """Return a vector as a JSON object.

    Raises:
        ValueError: its expected values do not begin again where its inputs do.
    """
    case, fields = vector.evaluated, json.loads(vector.case.to_json())
    value, allowed = rounded(judged(case), case)
    for (step, element), kind in vector.kinds.items():
        value[step, element] = 0 if kind == FINITE else np.nan
        allowed[step, element] = LARGEST if kind == FINITE else np.nan
    rows = np.asarray(vector.checked) - 1
    return {
        "id": f"{case.optimizer}-{case.dtype}-{vector.name}",
        "flags": list(vector.flags),
        **{name: fields[name] for name in ("hyper", "learning_rates")},
        "tensors": vector.tensors,
        "parameters": [
            {**param, "shape": list(shape)} for param, shape in zip(fields["parameters"], vector.shapes, strict=True)
        ],
        "grads": [[grad and grad["bits"] for grad in grads] for grads in fields["grads"]],
        "checked": list(vector.checked),
        "expected": [[part.tobytes().hex() for part in _parts(row, vector, case)] for row in value[rows]],
        "allowed": [[" ".join(map(short, part)) for part in _parts(row, vector, case)] for row in allowed[rows]],
    }


def _parts(row: Array, vector: Vector, case: Case) -> Iterator[Array]:
    """Yield each parameter's part of a row of results, as far as the parameter itself is written."""
    for array, param in zip(apart(row, case.parameters), vector.case.parameters, strict=True):
        part = array.reshape(-1)
        pattern = part[: param.size]
        if not np.array_equal(np.resize(pattern, part.shape), part, equal_nan=True):
            raise ValueError(f"{case.optimizer}-{case.dtype}-{vector.name}: expected values do not begin again")
        yield pattern


def rounded(oracle: Expected, case: Case) -> tuple[Array, Any]:
    """Return the expected value in the case's dtype, and the allowed error, infinite where nothing is known.

    The allowed error is the slack times the bound, and what the value has lost by rounding. NaN has the same bits on
    every machine.
    """
    with np.errstate(all="ignore"):
        value = oracle.value.astype(case.form.dtype)
        lost = np.abs(value.astype(oracle.value.dtype) - oracle.value)
        allowed = np.asarray(oracle.bound * SLACK + lost, np.float64)
        known = oracle.known & np.isfinite(value.astype(np.float64))
    value[np.isnan(value)] = np.nan
    return value, np.where(known, allowed, np.inf)


def short(number: float) -> str:
    """Write a positive number as a hex float with few digits, rounded up; ``inf`` and ``nan`` as they are."""
    if number == 0 or not math.isfinite(number):
        return "0x0p+0" if number == 0 else str(float(number))
    mantissa, exponent = math.frexp(number)
    units = math.ceil(math.ldexp(mantissa, 4 * DIGITS + 1)) + 1  # one more, for the rounding of a reader's difference
    if math.log2(units) + exponent - 4 * DIGITS - 1 >= MOST:
        return LARGEST.hex()
    return re.sub(r"\.?0*p", "p", math.ldexp(units, exponent - 4 * DIGITS - 1).hex())
