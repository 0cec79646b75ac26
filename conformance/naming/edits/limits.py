"""Lists the limits of ratios and norms, and the exceptions that a choice by a condition makes."""

from __future__ import annotations

from collections.abc import Iterator

from optimetry.conformance.naming.edits.usual import NORM_LIMITS
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.patterns import rewritten, rules_of
from optimetry.conformance.naming.formulas.programs import GRAD, PARAM, RATE, Expression, is_norm, replaced, simplified

CHOICES = rules_of(
    "where(p, a, b) -> where(p, a, maximum(a, b))",
    "where(p, a/c, b) -> where(p, a, b)/c",
    "where(p, (a - b)/c, 0) -> (where(p, a, b) - b)/c",
)
"""A choice by a condition that takes the larger value, or is made above a divisor."""


def limited(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield a ratio of norms or a norm that is limited: by a number, or a ratio by the learning rate.

    What is scaled down to a limit where its norm is above that may also be scaled to a norm of 1 there.
    """
    match part:
        case ("divide", ("multiply", scaled, limit), ("maximum", size, other)) if is_norm(size) and other == limit:
            yield ("where", ("greater", size, limit), ("divide", scaled, size), scaled)
        case ("divide", above, _) if is_norm(above) or _has_norm(above):
            yield from (("minimum", part, limit) for limit in (*NORM_LIMITS, RATE))
            without = simplified(replaced(part, RATE, 1.0))
            if without != part:
                yield ("minimum", without, RATE)
    if is_norm(part):
        yield from (("minimum", part, limit) for limit in NORM_LIMITS)


def _has_norm(product: Expression) -> bool:
    match product:
        case ("multiply", a, b):
            return is_norm(a) or is_norm(b)
    return False


def excepted(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield a choice that is also off where a hyperparameter is 0, and those of `CHOICES`.

    A norm that is compared with 0 may be compared with a hyperparameter instead.
    """
    match part:
        case ("greater", size, 0) if is_norm(size):
            yield from (("greater", size, name) for name in names.hyperparameters)
        case ("where", tuple(), _, second):
            yield from (("where", ("greater", name, 0), part, second) for name in names.hyperparameters)
            yield from rewritten(part, CHOICES)


def norms_of_sums(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield the norm of a sum in the place of the sum of norms, and the norm of the gradient with its decay."""
    match part:
        case ("add", a, ("multiply", str() as factor, b)) if is_norm(a) and is_norm(b):
            yield _norm_of(a, ("add", _within(a), ("multiply", factor, _within(b))))
    if is_norm(part) and _within(part) == GRAD:
        yield from (_norm_of(part, ("add", GRAD, ("multiply", name, PARAM))) for name in names.hyperparameters)


def _within(norm: Expression) -> Expression:
    """Return what a norm is of."""
    return norm[1][1][1]  # type: ignore[index]


def _norm_of(norm: Expression, other: Expression) -> Expression:
    """Return a norm over the same tensors, of something else."""
    return ("sqrt", (norm[1][0], ("square", other)))  # type: ignore[index]
