"""Rewrites expressions by tables of rows ``form -> formula or formula``, in which a letter is any expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from optimetry.conformance.naming.formulas.notation import expression_of
from optimetry.conformance.naming.formulas.programs import Expression

Rules: TypeAlias = "dict[str, list[tuple[Expression, list[Expression]]]]"
"""Forms with the formulas that they become, by the outermost operation of the form."""


def rules_of(*rows: str) -> Rules:
    """Read a table, such as ``(a - b)*c -> a - b*c``; forms are operations."""
    rules: Rules = {}
    for row in rows:
        left, right = row.split(" -> ")
        form: Any = expression_of(left)
        rules.setdefault(form[0], []).append((form, [expression_of(formula) for formula in right.split(" or ")]))
    return rules


def rewritten(part: Expression, rules: Rules) -> Iterator[Expression]:
    """Yield what an expression becomes by each row whose form it has."""
    if isinstance(part, tuple):
        for form, formulas in rules.get(part[0], ()):
            letters: dict[str, Expression] = {}
            if _has_form(part, form, letters):
                yield from (_filled(formula, letters) for formula in formulas)


def _has_form(part: Expression, form: Expression, letters: dict[str, Expression]) -> bool:
    """Whether an expression has a form; enters what each letter of the form stands for."""
    if isinstance(form, str):
        return letters.setdefault(form, part) == part
    if not isinstance(form, tuple):
        return part == form
    if not isinstance(part, tuple) or part[0] != form[0] or len(part) != len(form):
        return False
    return all(_has_form(*pair, letters) for pair in zip(part[1:], form[1:], strict=True))


def _filled(formula: Expression, letters: Mapping[str, Expression]) -> Expression:
    """Put what they stand for in the place of a formula's letters."""
    if isinstance(formula, tuple):
        return (formula[0], *(_filled(operand, letters) for operand in formula[1:]))
    return letters[formula] if isinstance(formula, str) else formula
