"""Lists the factors and terms that implementations put in where a formula has none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.programs import PARAM, RATE, STEP, Expression

DECAY = 0.01
"""The decay that libraries have where a document has none: the default of AdamW."""


def multiplied(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield the expression with one factor more: a rate, a decay or its complement, a correction, two or a half."""
    factors, roots = _known_factors(names.hyperparameters)
    for factor in factors:
        yield from (("multiply", factor, part), ("divide", part, factor))
    yield from (("divide", part, root) for root in roots)
    yield from (("multiply", root, part) for root in roots)


@cache  # the same objects each time, which `Terms` knows by their identity
def _known_factors(hyperparameters: tuple[str, ...]) -> tuple[list[Expression], list[Expression]]:
    """Return the factors, and the roots of the bias corrections among them."""
    decays: list[Expression] = [("subtract", 1, name) for name in hyperparameters]
    corrections: list[Expression] = [("subtract", 1, ("power", name, STEP)) for name in hyperparameters]
    return [RATE, 2.0, *hyperparameters, *decays, *corrections], [("sqrt", correction) for correction in corrections]


def added(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield the expression with one term more: a number, or a number of parameters, which is a decay."""
    yield from (("add", part, term) for term in _known_terms(names.hyperparameters))


def deviating(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield the square of the deviation from a slot in the place of a square, as AdaBelief has it."""
    match part:
        case ("square", x):
            yield from (("square", ("subtract", x, slot)) for slot in names.slots if slot != x)


@cache
def _known_terms(hyperparameters: tuple[str, ...]) -> list[Expression]:
    shares = (DECAY, ("multiply", RATE, DECAY))
    terms = [term for name in hyperparameters for term in (name, ("multiply", name, PARAM))]
    return [*terms, *(("multiply", share, PARAM) for share in shares)]
