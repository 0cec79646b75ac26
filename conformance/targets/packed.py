"""Packs a run into one line and the elements of all its arrays behind it, for programs that read it so."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case, layouts_out
from optimetry.conformance.harness.messages import member
from optimetry.conformance.harness.python_harness import BYTES, RULE, raw
from optimetry.conformance.harness.wire import as_json, hyper_as_json, wire
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.session import kind_of
from optimetry.reference.errors import TargetFault

RUN = "run_packed"
"""What is asked for."""


@lru_cache(maxsize=8)
def packed(case: Case) -> bytes:
    """Return a case as it is sent, from its second brace on: engines in turn and laws ask for the same runs."""
    line, elements = parts_of(case)
    return wire(line)[1:] + elements


def parts_of(case: Case) -> tuple[dict[str, Any], bytes]:
    """Return what the line says of a case, and the elements behind it."""
    missing = [(step, i) for step, row in enumerate(case.grads) for i, grad in enumerate(row) if grad is None]
    elements = b"".join(map(raw, case.arrays))
    kind = kind_of(case.optimizer)
    line = {
        "optimizer": case.optimizer,
        **({} if kind == RULE else {"kind": kind}),
        "dtype": case.dtype,
        "hyper": hyper_as_json(case.hyper),
        "shapes": [param.shape for param in case.parameters],
        "learning_rates": [as_json(rate) for rate in case.learning_rates],
        "missing": missing,
        **layouts_out(case),
        BYTES: len(elements),
    }
    return line, elements


def answered_size(case: Case) -> int:
    """Return how many bytes the answer has behind its line: all parameters after every step."""
    return case.elements * case.form.dtype.itemsize


def unpacked(answer: Mapping[str, Any], elements: bytes, case: Case) -> Array:
    """Return the parameters after each step, shape (steps, elements).

    Raises:
        TargetFault: the answer has none, or not as many.
    """
    member(answer, BYTES, RUN)
    if len(elements) != answered_size(case):
        steps = f"{len(case.grads)} steps of {case.size} elements in {case.dtype}"
        raise TargetFault(f"answered `{RUN}` with {len(elements)} bytes, must be {answered_size(case)}: {steps}")
    dtype = case.form.dtype.newbyteorder("<")
    return np.frombuffer(elements, dtype).reshape(len(case.grads), case.size).astype(case.form.dtype)
