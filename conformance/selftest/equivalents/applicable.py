"""Finds the rules that a style computes with other operations, or in another order, from the rules' expressions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from optimetry.conformance.laws.readings import CHOICES, COMPARISONS, DROPPED, KEPT
from optimetry.conformance.selftest.equivalents.engines import Style, StyledTarget
from optimetry.conformance.selftest.equivalents.evaluation import PLAIN, is_whole_power
from optimetry.conformance.selftest.equivalents.expression import (
    GRAD,
    PARAM,
    Node,
    as_documented,
    rewritten,
    traced,
)
from optimetry.conformance.selftest.equivalents.styles import STYLES
from optimetry.conformance.subjects.rules import number_slots
from optimetry.reference.books import BOOKS
from optimetry.reference.rule import Rule

LATER = 3
"""The number of an update whose expression has all its terms."""


@cache
def rules_of(style: Style) -> tuple[str, ...]:
    """Return the names of the rules that a style computes in its own way; none that tells rows and columns apart."""
    rules = {name: rule for book in BOOKS.values() for name, rule in book.items()}
    return tuple(name for name, rule in rules.items() if name not in style.overflows and _applies(style, rule))


def styled_targets(optimizer: str) -> list[StyledTarget]:
    """Return a target of each style that computes a rule in its own way."""
    return [StyledTarget(style) for style in STYLES.values() if optimizer in rules_of(style)]


def _applies(style: Style, rule: type[Rule]) -> bool:
    if rule.shaped or (style.needs_elementwise and not rule.elementwise):
        return False
    if style.rewriting is not as_documented:
        return any(_changes(style, expressions) for expressions in _expressions(rule))
    if style.evaluation.nan == KEPT:
        return any(node.op in COMPARISONS for node in _nodes(rule))
    if style.evaluation.nan == DROPPED:
        return any(node.op in CHOICES for node in _nodes(rule))
    if style.keeps_bits:
        return True
    if style.evaluation.power is not PLAIN.power:
        return any(map(is_whole_power, _nodes(rule)))
    if style.evaluation.sum is not PLAIN.sum:
        return not rule.elementwise
    if style.evaluation.narrow_scalars:
        return any(_rounds(node) for node in _nodes(rule))
    return True


def _expressions(rule: type[Rule]) -> Iterator[dict[str, Node]]:
    """Yield the expressions of a later update, at the last corners and at 0, with every combination of the flags."""
    declared = rule.hyperparameters()
    last: dict[str, Any] = {x.name: x.corners[-1] if x.corners else x.default for x in declared}
    zeros = {x.name: 0.0 for x in declared if x.kind is float and 0.0 in x.corners}
    flags = [x.name for x in declared if x.kind is bool]
    for corners, positions in product((last, last | zeros), product((False, True), repeat=len(flags))):
        chosen = rule.of({**corners, **dict(zip(flags, positions, strict=True))})
        numbers, slots = number_slots(chosen), chosen.initial_state(np.zeros(3))
        shapes = {name: np.shape(array) for name, array in slots.items() if name not in numbers}
        yield traced(chosen, LATER, {PARAM: (3,), GRAD: (3,), **shapes})


def _nodes(rule: type[Rule]) -> Iterator[Node]:
    waiting = [node for expressions in _expressions(rule) for node in expressions.values()]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [arg for arg in node.args if isinstance(arg, Node)]


def _changes(style: Style, expressions: dict[str, Node]) -> bool:
    """Whether a style rewrites an expression; to the same operations in another order only if it keeps the bits."""
    known: dict[int, Node] = {}
    return any(
        _structure(rewritten(node, style.rewriting, known), style.keeps_bits) != _structure(node, style.keeps_bits)
        for node in expressions.values()
    )


COMMUTES = (np.add, np.multiply, np.maximum, np.minimum)


def _structure(node: Any, ordered: bool) -> str:
    """Write an expression as text; unless ordered, operands are sorted where their order makes no difference."""
    if not isinstance(node, Node):
        return repr(node)
    operands = [_structure(arg, ordered) for arg in node.args]
    return f"{node.op}({', '.join(sorted(operands) if node.op in COMMUTES and not ordered else operands)})"


def _rounds(node: Node) -> bool:
    """Whether an operation on numbers alone may be rounded: no change of sign, no product with a power of two."""
    if not (node.scalar and isinstance(node.op, np.ufunc)) or node.op is np.negative:
        return False
    known = [float(arg.args[0]) for arg in node.args if arg.op is None]
    return not (node.op is np.multiply and any(abs(math.frexp(x)[0]) == 0.5 for x in known))
