"""Writes counts, indented lines and the numbers of a case, for reports on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from optimetry.conformance.cases.case import Case


def counted(count: int, what: str) -> str:
    """Write a number of things."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines, indented."""
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def rows_of(case: Case) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a case as rows of a table."""
    yield from case.hyper.items()
    yield "learning rates", ", ".join(map(str, case.learning_rates))
    yield "parameters", _tensors(case.parameters, case)
    yield from ((f"gradients, step {step + 1}", _tensors(grads, case)) for step, grads in enumerate(case.grads))


def _tensors(arrays: Sequence[Any], case: Case) -> str:
    """Write tensors with semicolons between them."""
    texts = ("none" if x is None else ", ".join(digits_of(each, case) for each in x.reshape(-1)) for x in arrays)
    return "; ".join(text or "(empty)" for text in texts)


def digits_of(value: Any, case: Case) -> str:
    """Write a number with enough digits to identify it."""
    return f"{float(value):.{17 if case.dtype == 'float64' else 9}g}"
