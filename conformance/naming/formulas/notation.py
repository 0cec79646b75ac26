"""Writes expressions as formulas, in the notation of the rules' docstrings, and reads them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from optimetry.conformance.naming.formulas.programs import OVER_ALL, Expression, is_norm

SIGNS = {
    "bitwise_or": ("or", -2),
    "bitwise_and": ("and", -1),
    "greater": (">", 0),
    "greater_equal": (">=", 0),
    "less": ("<", 0),
    "less_equal": ("<=", 0),
    "not_equal": ("!=", 0),
    "equal": ("==", 0),
    "add": ("+", 1),
    "subtract": ("-", 1),
    "multiply": ("*", 2),
    "divide": ("/", 2),
    "power": ("**", 4),
}
"""How operations are written between their operands, and how strongly they bind."""

READ: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}
"""The operations between two operands that are read."""


def text_of(expression: Expression, names: Mapping[Expression, str] | None = None) -> str:
    """Write an expression as a formula; ``names`` are parts that are written by a name."""
    return _written(expression, names or {})[0]


def _written(expression: Expression, names: Mapping[Expression, str]) -> tuple[str, int]:
    if expression in names:
        return names[expression], 9
    if not isinstance(expression, tuple):
        return (f"{expression:g}" if isinstance(expression, float) else str(expression)), 9
    name, *operands = expression
    texts = [_written(operand, names) for operand in operands]
    if is_norm(expression):
        over = "all " if operands[0][0] == OVER_ALL else ""
        return f"norm({over}{text_of(operands[0][1][1], names)})", 9
    if name == "negative":
        return f"-{_within(texts[0], 3)}", 3
    if name not in SIGNS:
        called = {"absolute": "abs"}.get(name, name)
        return f"{called}({', '.join(text for text, _ in texts)})", 9
    sign, binding = SIGNS[name]
    left, right = texts
    after = binding + (name in ("subtract", "divide", "power"))
    before = binding + (name == "power")
    gap = " " if binding <= 1 else ""
    return f"{_within(left, before)}{gap}{sign}{gap}{_within(right, after)}", binding


def _within(written: tuple[str, int], binding: int) -> str:
    text, own = written
    return text if own >= binding else f"({text})"


def expression_of(formula: str) -> Expression:
    """Read a formula of names, numbers, functions and the operations of `READ`.

    Raises:
        ValueError: it holds anything else.
    """
    return _read(ast.parse(formula, mode="eval").body)


def _read(node: ast.expr) -> Expression:
    match node:
        case ast.Name(name):
            return name
        case ast.Constant(int() | float() as number):
            return number
        case ast.Call(ast.Name(function), operands):
            return (function, *map(_read, operands))
        case ast.BinOp(left, sign, right) if type(sign) in READ:
            return (READ[type(sign)], _read(left), _read(right))
    raise ValueError(f"{ast.unparse(node)!r} is no formula that is read")
