"""Lists the single edits of a program: the small mistakes that implementations of a formula make.

An operand is lost, an old slot stands where the new one should, an epsilon is moved across a root, a factor too many:
each edit puts one expression in the place of another, in one output or in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimetry.conformance.naming.programs import GRAD, PARAM, RATE, STEP, Expression, Program, parts_of, replaced

COUNTERPARTS = {
    "add": "subtract",
    "subtract": "add",
    "multiply": "divide",
    "divide": "multiply",
    "maximum": "minimum",
    "minimum": "maximum",
    "greater": "greater_equal",
    "greater_equal": "greater",
    "bitwise_and": "bitwise_or",
    "bitwise_or": "bitwise_and",
}
"""The operation that is taken for another of two operands."""

UNARY = ("sqrt", "square", "absolute", "sign")
"""Functions of one operand that are left out, added, or taken for each other."""

COMPARISONS = ("greater", "greater_equal", "equal")
CONDITIONS = (*COMPARISONS, "bitwise_and", "bitwise_or")
"""Operations whose result is true or false."""


@dataclass(frozen=True)
class Edit:
    """One change of a program.

    Attributes:
        old: the expression that is replaced.
        new: what stands there instead.
        outputs: the outputs in which it is replaced.
    """

    old: Expression
    new: Expression
    outputs: tuple[str, ...]

    @property
    def size(self) -> int:
        """How much it adds: the parts of what is new that do not stand in what is replaced."""
        return len(parts_of(self.new).keys() - parts_of(self.old).keys())

    def applied(self, program: Program) -> Program:
        """Return the program with this change; the same where the expression does not stand in it."""
        return {
            name: replaced(expression, self.old, self.new) if name in self.outputs else expression
            for name, expression in program.items()
        }


def edits_of(program: Program, hyperparameters: Sequence[str]) -> Iterator[Edit]:
    """Yield every single edit of a program, the likeliest kinds first; some compute the same.

    Args:
        program: what is edited.
        hyperparameters: the names of the real ones.
    """
    holders: dict[Expression, list[str]] = {}
    for name, expression in program.items():
        for part in parts_of(expression):
            holders.setdefault(part, []).append(name)
    for kind in (_slots, _numbers, _operands, _operations, _functions, _factors, _terms):
        found = [
            (part, new, outputs)
            for part, outputs in reversed(holders.items())
            if not isinstance(part, int | float) and (kind in OF_CONDITIONS or not _is(part, *CONDITIONS))
            for new in kind(part, program, hyperparameters)
            if new != part
        ]
        yield from (Edit(part, new, tuple(outputs)) for part, new, outputs in found)
        yield from (Edit(part, new, (name,)) for part, new, outputs in found if len(outputs) > 1 for name in outputs)


def _slots(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield the old slot in the place of the new one and the reverse, another slot, or a slot for the gradient."""
    slots = [name for name in program if name != PARAM]
    if isinstance(part, str) and part in slots:
        yield from (program[part], *slots, 0.0)
    elif part == GRAD:
        yield from (PARAM, *slots)
    else:
        yield from (slot for slot in slots if program[slot] == part)


def _numbers(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield what stands in the place of a hyperparameter or of the step number."""
    if part in hyperparameters:
        yield from hyperparameters
        yield from (0.0, 1.0, ("subtract", 1, part), ("square", part), ("sqrt", part))
    elif part == STEP:
        yield from (("add", STEP, 1), ("subtract", STEP, 1), 1)


def _operands(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield an operation with another input in the place of one operand, there alone."""
    if isinstance(part, tuple):
        for i, operand in enumerate(part[1:], 1):
            if isinstance(operand, str):
                others = (*_slots(operand, program, hyperparameters), *_numbers(operand, program, hyperparameters))
                yield from ((*part[:i], new, *part[i + 1 :]) for new in others if not isinstance(new, int | float))


def _operations(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield what becomes of an operation that loses an operand, is taken for another, or is moved."""
    if not isinstance(part, tuple):
        return
    name, *operands = part
    if name == "where":
        yield from operands[1:]
    elif not _is(part, *COMPARISONS):
        yield from operands
    if name in UNARY:
        yield from ((other, *operands) for other in UNARY)
    if name in COUNTERPARTS:
        yield (COUNTERPARTS[str(name)], *operands)
    yield from _moved(part)


def _functions(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield functions of the expression, its negative, and an operation with its operands exchanged."""
    match part:
        case (("subtract" | "divide" | "power") as name, a, b):
            yield (name, b, a)
    if isinstance(part, tuple) or part == GRAD:
        yield from ((name, part) for name in (*UNARY, "negative"))


def _moved(part: Expression) -> Iterator[Expression]:
    """Yield the operation with a term moved into a neighbour, or out of it."""
    match part:
        case ("sqrt", ("add", a, b)):
            yield from (("add", ("sqrt", a), b), ("add", a, ("sqrt", b)))
        case (name, left, right):
            yield from _moved_beside(name, left, right)
            yield from _moved_beside(name, right, left)


def _moved_beside(name: str, inner: Expression, other: Expression) -> Iterator[Expression]:
    """Yield an operation of two operands with a term moved between them; ``inner`` is the one that is opened."""
    match name, inner:
        case "add", ("sqrt", a):
            yield ("sqrt", ("add", a, other))
        case "add", ("multiply", a, b):
            yield from (("multiply", a, ("add", b, other)), ("multiply", ("add", a, other), b))
        case "add", ("divide", a, b):
            yield from (("divide", ("add", a, other), b), ("divide", a, ("add", b, other)))
        case "multiply", ("add", a, b):
            yield from (("add", ("multiply", a, other), b), ("add", a, ("multiply", b, other)))
        case (("maximum" | "minimum"), ("add", a, b)):
            yield from ((name, a, ("add", other, b)), (name, b, ("add", other, a)), ("add", (name, a, other), b))


def _factors(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield the expression with one factor more: a rate, a decay or its complement, a correction, two or a half."""
    decays = [("subtract", 1, name) for name in hyperparameters]
    corrections = [("subtract", 1, ("power", name, STEP)) for name in hyperparameters]
    for factor in (RATE, 2.0, *hyperparameters, *decays, *corrections):
        yield from (("multiply", factor, part), ("divide", part, factor))
    yield from (("divide", part, ("sqrt", correction)) for correction in corrections)


def _terms(part: Expression, program: Program, hyperparameters: Sequence[str]) -> Iterator[Expression]:
    """Yield the expression with one term more: a number, or a number of parameters, which is a decay."""
    for name in hyperparameters:
        yield from (("add", part, name), ("add", part, ("multiply", name, PARAM)))


def _is(part: Expression, *names: str) -> bool:
    return isinstance(part, tuple) and part[0] in names


OF_CONDITIONS = (_operands, _operations)
"""The kinds of edits that conditions have, too."""
