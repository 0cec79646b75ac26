"""Notes what a rule computes on the way to one element, and writes what two formulas compute differently."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.conformance.naming.formulas.notation import text_of
from optimetry.conformance.naming.formulas.programs import Expression
from optimetry.reference.explain import Traced
from optimetry.reference.rule import Rule, State

LONG = 28
"""Expressions with more letters are numbered, and called by the number in others."""

Noted = dict[Expression, float]
"""The value of every expression on the way, in the order of evaluation."""


class NotTraceable(TypeError):
    """A formula has an operand that is none of its numbers."""


class TracedNumber(Traced):
    """A number or an array named by the expression that gives it; its lines are expressions with their values."""

    name: Expression

    def _made(self, name: str, value: Any, operands: Any, along: list[str] | None = None) -> TracedNumber:
        if not all(isinstance(operand, TracedNumber | int | float) for operand in operands):
            raise NotTraceable(f"{name} has an operand that is no number of the formula")
        expression = (name, *map(_expression, operands))
        self.lines.append((expression, value))
        return TracedNumber(value, expression, self.lines)


def _expression(operand: Any) -> Expression:
    if isinstance(operand, TracedNumber):
        return operand.name
    kind = float if isinstance(operand, float) else int  # plain ones: NumPy's scalars compare as arrays do
    return kind(operand)


def on_the_way(
    rule: Rule, inputs: Mapping[str, Any], rate: float, updates: int, of_element: Callable[[Any], float | None]
) -> Noted:
    """Return what one update of a rule computes on the way to the new parameter; nothing where it cannot be traced.

    Args:
        rule: the rule.
        inputs: ``param``, ``grad`` and the slots by name.
        rate: the learning rate.
        updates: the number of the update.
        of_element: the element's number in an array, None where an array has none.
    """
    noted: list[tuple[Expression, Any]] = []
    numbers = {name: TracedNumber(np.asarray(array, np.float64), name, noted) for name, array in inputs.items()}
    lifted = rule.lifted(lambda name, value: TracedNumber(value, name, noted))
    state = State(**{name: number for name, number in numbers.items() if name not in ("param", "grad")})
    try:
        with np.errstate(all="ignore"):
            _, new = lifted.update(numbers["param"], numbers["grad"], state, TracedNumber(rate, "lr", noted), updates)
    except NotTraceable:
        return {}
    slots: dict[Expression, str] = {
        x.name: f"new {slot}" for slot, x in new.items() if isinstance(x, TracedNumber) and isinstance(x.name, tuple)
    }
    values = {_named(expression, slots): of_element(value) for expression, value in noted[:-1]}
    return {part: value for part, value in values.items() if value is not None and isinstance(part, tuple)}


def _named(part: Any, names: Mapping[Expression, str]) -> Any:
    """Put names in the place of the parts that have one."""
    if not isinstance(part, tuple):
        return part
    return names[part] if part in names else (part[0], *(_named(operand, names) for operand in part[1:]))


def differences(documented: Noted, other: Noted) -> list[tuple[str, float | None, float | None]]:
    """Write what two formulas compute differently, and the numbered expressions that this is made of, side by side."""
    parts = list(dict.fromkeys([*documented, *other]))
    labels: dict[Expression, str] = {}
    texts: list[str] = []
    for part in parts:
        texts.append(text_of(part, labels))
        if len(texts[-1]) > LONG:
            labels[part] = f"[{len(labels) + 1}]"
    shown = [documented.get(part) != other.get(part) for part in parts]
    for i in reversed(range(len(parts))):
        label = labels.get(parts[i])
        shown[i] = shown[i] or (label is not None and _is_used(label, texts[i + 1 :], shown[i + 1 :]))
    kept = [labels[part] for part, is_shown in zip(parts, shown, strict=True) if is_shown and part in labels]
    numbers = {label: f"[{number}]" for number, label in enumerate(kept, 1)}
    rows = []
    for part, text, is_shown in zip(parts, texts, shown, strict=True):
        if is_shown:
            written = re.sub(r"\[\d+\]", lambda label: numbers[label[0]], text)
            label = f"{numbers[labels[part]]} = " if part in labels else ""
            rows.append((label + written, documented.get(part), other.get(part)))
    return rows


def _is_used(label: str, texts: Sequence[str], shown: Sequence[bool]) -> bool:
    return any(is_shown and label in text for text, is_shown in zip(texts, shown, strict=True))
