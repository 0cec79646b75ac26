"""Numbers the parts of expressions, so that an equal part is one number and is evaluated once in a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.naming.formulas.evaluated import of_matrices, of_rows, sent_of_rows
from optimetry.conformance.naming.formulas.programs import OVER_ALL, SENT, SENT_ROUNDED_UP, Expression

Number = int
"""Stands for one expression."""

KEPT = 20_000
"""The most values that a step keeps."""

STACKS = 1_000
"""The most lists of expressions whose values a step keeps together."""


class Terms:
    """A table of expressions, each with the numbers of its operands.

    Attributes:
        expressions: the expression of each number.
        operands: the numbers of the operands of each, empty for inputs and constants.
        functions: what evaluates each on matrices, None for inputs and constants.
    """

    def __init__(self) -> None:
        self.expressions: list[Expression] = []
        self.operands: list[tuple[Number, ...]] = []
        self.functions: list[Callable[..., Any] | None] = []
        self._numbers: dict[Any, Number] = {}
        self._entered: dict[int, Number] = {}
        self._parts: dict[Number, dict[Number, None]] = {}

    def number(self, expression: Expression) -> Number:
        """Return the number of an expression, which is entered if it is new.

        The hash of a tuple is that of all its parts, so one that was entered is known by its identity, and another by
        the numbers of its operands.
        """
        known = self._entered.get(id(expression))
        if known is not None:
            return known
        if isinstance(expression, tuple):
            entered = self._entered.get
            operands = [self.number(x) if (operand := entered(id(x))) is None else operand for x in expression[1:]]
            return self._applied(expression[0], tuple(operands), expression)
        key = (type(expression), expression)  # 1 and 1.0 are equal, and the first has no dtype
        known = self._numbers.get(key)
        return self._enter(key, expression, (), None) if known is None else known

    def _applied(self, name: str, operands: tuple[Number, ...], expression: Expression | None = None) -> Number:
        """Return the number of an operation on expressions that are entered."""
        key = (name, operands)
        known = self._numbers.get(key)
        if known is None:
            expression = expression or (name, *map(self.expressions.__getitem__, operands))
            known = self._enter(key, expression, operands, function(name))
        return known

    def _enter(
        self, key: Any, expression: Expression, operands: tuple[Number, ...], computed_by: Callable[..., Any] | None
    ) -> Number:
        known = self._numbers[key] = self._entered[id(expression)] = len(self.expressions)
        self.expressions.append(expression)
        self.operands.append(operands)
        self.functions.append(computed_by)
        return known

    def parts(self, root: Number) -> dict[Number, None]:
        """Return every part of an expression once, operands before what they are part of."""
        known = self._parts.get(root)
        if known is None:
            known = {}
            for operand in self.operands[root]:
                known.update(self.parts(operand))
            known[root] = None
            self._parts[root] = known
        return known

    def above(self, root: Number, part: Number) -> list[Number]:
        """Return the parts of an expression that contain a part of it, that part left out, the innermost first."""
        containing, above = {part}, []
        for number in self.parts(root):
            if number != part and not containing.isdisjoint(self.operands[number]):
                containing.add(number)
                above.append(number)
        return above

    def replaced(self, root: Number, old: Number, new: Number) -> Number:
        """Put one expression in the place of another wherever that stands."""
        became = {old: new}
        for number in self.above(root, old):
            name = self.expressions[number][0]  # type: ignore[index]
            became[number] = self._applied(name, tuple(became.get(x, x) for x in self.operands[number]))
        return became.get(root, root)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": of_rows,
    OVER_ALL: of_matrices,
    SENT: sent_of_rows,
    SENT_ROUNDED_UP: partial(sent_of_rows, up=True),
    "bitwise_and": np.logical_and,
    "bitwise_or": np.logical_or,
}
"""The operations that are not evaluated by the NumPy function of their name."""


def function(name: str) -> Callable[..., Any]:
    """Return what evaluates an operation on matrices whose rows are tensors."""
    evaluator = FUNCTIONS.get(name)
    if evaluator is None:
        evaluator = FUNCTIONS[name] = getattr(np, name)
    return evaluator


class StateStep:
    """One step of one state: the inputs, and the value of every part that was evaluated on them.

    Attributes:
        inputs: arrays with one tensor a row, columns of numbers, and the number of the step.
        before: the step before this one, None for the first, and where no slot has several entries.
        following: the steps behind this one, by the numbers of the slots that lead there.
    """

    def __init__(self, terms: Terms, inputs: Mapping[str, Any], before: StateStep | None = None) -> None:
        self.terms, self.inputs, self.before = terms, inputs, before
        self.following: dict[tuple[Number, ...], StateStep] = {}
        self._known: dict[Number, Any] = {}
        self._stacks: dict[tuple[Number, ...], Any] = {}
        self._edited: dict[tuple[Number, tuple[Number, ...]], Any] = {}
        self._part: Number | None = None

    def value(self, number: Number) -> Any:
        """Evaluate an expression."""
        known = self._known.get(number)
        if known is None:
            if len(self._known) > KEPT:
                self._known.clear()
            computed_by, get = self.terms.functions[number], self._known.get
            if computed_by is not None:
                operands = self.terms.operands[number]
                known = computed_by(*[self.value(x) if (kept := get(x)) is None else kept for x in operands])
            else:
                expression = self.terms.expressions[number]
                known = self.inputs[expression] if isinstance(expression, str) else expression
            self._known[number] = known
        return known

    def _stacked(self, others: tuple[Number, ...], shape: tuple[int, ...]) -> Any:
        """Evaluate expressions, one along the first axis; programs that share a part share what may stand there."""
        known = self._stacks.get(others)
        if known is None:
            if len(self._stacks) > STACKS:
                self._stacks.clear()
            known = self._stacks[others] = np.empty((len(others), *shape))
            for i, other in enumerate(others):
                value = self.value(other)
                known[i] = value[i] if np.ndim(value) > len(shape) else value
        return known

    def with_each(self, root: Number, part: Number, others: Sequence[Number], shape: tuple[int, ...]) -> Any:
        """Evaluate an expression with each of other expressions in the place of a part, one along the first axis.

        Where slots have such an axis already, one for each of the others, they go together. What was evaluated with the
        same part is kept until another comes: its edits are tried in several choices of lines.
        """
        if part != self._part:
            self._part, self._edited = part, {}
        key = root, tuple(others)
        known = self._edited.get(key)
        if known is None:
            known = self._edited[key] = self._evaluated(root, part, key[1], shape)
        return known

    def _evaluated(self, root: Number, part: Number, others: tuple[Number, ...], shape: tuple[int, ...]) -> Any:
        became = {part: self._stacked(others, shape)}
        for number in self.terms.above(root, part):
            computed_by: Any = self.terms.functions[number]
            became[number] = computed_by(
                *[became[x] if x in became else self.value(x) for x in self.terms.operands[number]]
            )
        return became[root]
