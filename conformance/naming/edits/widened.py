"""Lists the programs with a slot more: the largest value that an average of squares has had, in its place."""

from __future__ import annotations

from collections.abc import Iterator

from optimetry.conformance.naming.edits.corrections import averages_of
from optimetry.conformance.naming.edits.rewritten import Rewritten
from optimetry.conformance.naming.formulas.programs import (
    FIRST,
    PARAM,
    Expression,
    Program,
    is_norm,
    parts_of,
    replaced,
    simplified,
    slots_of,
)

LARGEST = "_max"
"""Follows the name of a slot in the name of its largest value."""


def widenings(program: Program) -> Iterator[Rewritten]:
    """Yield each slot that the parameter takes the root of, and its corrected value, as the largest so far."""
    corrections = dict(averages_of(program))
    for slot in slots_of(program):
        line, largest = program[slot], slot + LARGEST
        if largest in program or slot.endswith(LARGEST) or not _under_a_root(line, program[PARAM]):
            continue
        yield _with_largest(program[PARAM], line, line, largest, f"the largest {slot} so far in its place")
        correction = corrections.get(slot)
        if correction is not None and correction in parts_of(program[PARAM]):
            corrected: Expression = ("divide", line, correction)
            words = f"the largest corrected {slot} so far in its place"
            old, param = corrected, program[PARAM]
            if corrected not in parts_of(param):
                old, param = line, simplified(replaced(param, correction, 1.0))
            yield _with_largest(param, old, corrected, largest, words)


def _with_largest(param: Expression, old: Expression, line: Expression, largest: str, words: str) -> Rewritten:
    new = ("maximum", largest, line)
    return Rewritten(((PARAM, replaced(param, old, new)), (largest, new), (FIRST + largest, 0.0)), words)


def _under_a_root(line: Expression, param: Expression) -> bool:
    """Whether a formula takes the root of an expression, with factors or terms; a norm is no root of its elements."""
    roots = (x for x in parts_of(param) if isinstance(x, tuple) and x[0] == "sqrt" and not is_norm(x))
    return any(line in parts_of(root) for root in roots)
