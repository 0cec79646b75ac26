"""Lists the guards of divisors, roots, norms and signs: a small number more, or zero for a quotient by zero."""

from __future__ import annotations

from collections.abc import Iterator

from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.programs import Expression, is_norm


def guarded(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield a divisor, a root or a norm with a small number added, and a clip as its limited norm over a guarded norm.

    A quotient may be zero where its divisor is, and then the divisor needs no hyperparameter added. A sign may be a
    quotient by the magnitude with such a number.
    """
    match part:
        case ("divide", ("multiply", a, c), ("maximum", norm, limit)) if c == limit and is_norm(norm):
            limited = ("minimum", norm, c)
            yield from (("multiply", a, ("divide", limited, divisor)) for divisor in (norm, *_with_small_number(norm)))
        case ("divide", a, b):
            yield from (("divide", a, divisor) for divisor in _with_small_number(b))
            yield from (("where", ("greater", x, 0), ("divide", a, x), 0.0) for x in (b, *_unguarded(b)))
        case ("sqrt", a):
            yield from (("sqrt", radicand) for radicand in _with_small_number(a))
        case ("sign", a):
            yield from (("divide", a, ("sqrt", radicand)) for radicand in _with_small_number(("square", a)))
            yield from (("divide", a, divisor) for divisor in _with_small_number(("absolute", a)))
    if is_norm(part):
        yield from _with_small_number(part)


def _with_small_number(part: Expression) -> Iterator[Expression]:
    """Yield an expression with a small number added, unless a number or a hyperparameter has been."""
    if not (isinstance(part, tuple) and part[0] == "add" and not isinstance(part[2], tuple)):
        yield from (("add", part, small) for small in GUARDS)


def _unguarded(divisor: Expression) -> Iterator[Expression]:
    """Yield a divisor without the hyperparameter that is added to it, if one is."""
    match divisor:
        case ("add", unguarded, str()):
            yield unguarded
