"""Lists the limits of ratios and norms, and the exceptions that a choice by a condition makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimetry.conformance.naming.programs import GRAD, PARAM, RATE, Expression, is_norm, replaced, simplified

LIMITS = (1.0, 10.0)
"""The limits of a norm, or of a ratio of norms, in libraries."""


def limited(part: Expression, slots: Sequence[str], hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield a ratio of norms or a norm that is limited: by a number, or a ratio by the learning rate."""
    match part:
        case ("divide", above, _) if is_norm(above) or _has_norm(above):
            yield from (("minimum", part, limit) for limit in (*LIMITS, RATE))
            without = simplified(replaced(part, RATE, 1.0))
            if without != part:
                yield ("minimum", without, RATE)
    if is_norm(part):
        yield from (("minimum", part, limit) for limit in LIMITS)


def _has_norm(product: Expression) -> bool:
    match product:
        case ("multiply", a, b):
            return is_norm(a) or is_norm(b)
    return False


def excepted(part: Expression, slots: Sequence[str], hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield a choice that is also off where a hyperparameter is 0, takes the larger value, or is made above a divisor.

    A choice between ``(a - b)/c`` and 0 becomes one between a and b in ``a``'s place.
    """
    match part:
        case ("where", tuple() as condition, first, second):
            yield from (("where", ("greater", name, 0), part, second) for name in hyperparameters)
            yield ("where", condition, first, ("maximum", first, second))
            match first:
                case ("divide", above, below):
                    yield ("divide", ("where", condition, above, second), below)
            match first, second:
                case ("divide", ("subtract", a, b), below), 0:
                    yield ("divide", ("subtract", ("where", condition, a, b), b), below)


def norms_of_sums(part: Expression, slots: Sequence[str], hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield the norm of a sum in the place of the sum of norms, and the norm of the gradient with its decay."""
    match part:
        case ("add", a, ("multiply", str() as factor, b)) if is_norm(a) and is_norm(b):
            yield _norm_of(a, ("add", _within(a), ("multiply", factor, _within(b))))
    if is_norm(part) and _within(part) == GRAD:
        yield from (_norm_of(part, ("add", GRAD, ("multiply", name, PARAM))) for name in hyperparameters)


def _within(norm: Expression) -> Expression:
    """Return what a norm is of."""
    return norm[1][1][1]  # type: ignore[index]


def _norm_of(norm: Expression, other: Expression) -> Expression:
    """Return a norm over the same tensors, of something else."""
    return ("sqrt", (norm[1][0], ("square", other)))  # type: ignore[index]
