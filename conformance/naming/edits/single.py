"""Lists the single edits of a program: the small mistakes that implementations of a formula make.

An operand is lost, an old slot stands where the new one should, an epsilon is moved across a root, a factor too many:
each edit puts one expression in the place of another, in one output or in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from optimetry.conformance.naming.edits.factors import added, deviating, multiplied
from optimetry.conformance.naming.edits.guards import guarded
from optimetry.conformance.naming.edits.limits import excepted, limited, norms_of_sums
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.patterns import rewritten, rules_of
from optimetry.conformance.naming.formulas.programs import (
    GRAD,
    OVER_ALL,
    PARAM,
    SENT,
    SENT_ROUNDED_UP,
    STEP,
    Expression,
    Program,
    is_norm,
    parts_of,
    replaced,
    slots_of,
)

COUNTERPARTS = {
    "add": ("subtract", "maximum"),
    "subtract": ("add",),
    "multiply": ("divide",),
    "divide": ("multiply",),
    "maximum": ("minimum", "add"),
    "minimum": ("maximum",),
    "cbrt": ("sqrt",),
    "greater": ("greater_equal",),
    "greater_equal": ("greater",),
    "less": ("less_equal", "greater"),
    "less_equal": ("less", "greater_equal"),
    "not_equal": ("equal",),
    "bitwise_and": ("bitwise_or",),
    "bitwise_or": ("bitwise_and",),
    SENT: (SENT_ROUNDED_UP,),
}
"""Operations, each with those that it is mistaken for."""

UNARY = ("sqrt", "square", "absolute", "sign")
"""Functions of one operand that are left out, added, or taken for each other."""

SIGNED_ROOT = ("multiply", ("sign", GRAD), ("sqrt", ("absolute", GRAD)))
"""The root of the gradient's magnitude, with its sign."""

COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal", SENT, SENT_ROUNDED_UP)
CONDITIONS = (*COMPARISONS, "bitwise_and", "bitwise_or")
"""Operations whose result is true or false."""


@dataclass(frozen=True)
class Edit:
    """One change of a program.

    Attributes:
        old: the expression that is replaced.
        new: what replaces it.
        outputs: the outputs in which it is replaced.
        exchanged: whether `old` also replaces `new`.
    """

    old: Expression
    new: Expression
    outputs: tuple[str, ...]
    exchanged: bool = False

    @property
    def guards(self) -> list[float]:
        """The small numbers of `GUARDS` that it adds."""
        new = parts_of(self.new).keys() - parts_of(self.old).keys()
        return [small for small in GUARDS if small in new]

    @property
    def size(self) -> tuple[int, int]:
        """A sort key: the number of new parts; among equals, edits in the most outputs come first."""
        added = parts_of(self.new).keys() - parts_of(self.old).keys()
        return sum(not isinstance(part, int | float) for part in added), -len(self.outputs)

    def with_number(self, number: float, other: float) -> Edit:
        """Return the same change with another number."""
        return replace(self, old=replaced(self.old, number, other), new=replaced(self.new, number, other))

    def applied(self, program: Program) -> Program:
        """Return the program with this change; unchanged if it does not hold the expression."""
        return {
            name: self._within(expression) if name in self.outputs else expression
            for name, expression in program.items()
        }

    def _within(self, expression: Expression) -> Expression:
        if not self.exchanged:
            return replaced(expression, self.old, self.new)
        aside = replaced(expression, self.old, ASIDE)
        return replaced(replaced(aside, self.new, self.old), ASIDE, self.new)


NEVER_NEGATED = ("square", "sum", OVER_ALL)
"""Operations that are not negated: the root of a negative sum is NaN, which no comparison decides, and a formula that
is undecided explains too much. Subtracting a square is another edit."""

MOVED_TERMS = rules_of(
    "sqrt(a) + c -> sqrt(a + c)",
    "a*b + c -> a*(b + c) or (a + c)*b",
    "a/b + c -> (a + c)/b or a/(b + c)",
    "(a + b)*c -> a*c + b or a + b*c",
    "maximum(a + b, c) -> maximum(a, c + b) or maximum(b, c + a) or maximum(a, c) + b",
    "minimum(a + b, c) -> minimum(a, c + b) or minimum(b, c + a) or minimum(a, c) + b",
)
"""A term moved into a neighbour, or out of it; also where ``c`` is the first operand."""

WITHOUT_BRACKETS = rules_of(
    "sqrt(a + b) -> sqrt(a) + b or a + sqrt(b)",
    "(a - b)*c -> a - b*c",
    "(a - b)/c -> a - b/c",
    "(a + b)/c -> a + b/c",
    "a*(b - c) -> a*b - c",
    "a/(b + c) -> a/b + c",
    "a/(b - c) -> a/b - c",
    "a*b/(c + d) -> a*(b/c + d)",
    "a*b/(c - d) -> a*(b/c - d)",
)
"""A root, product or quotient as it is read without the brackets about a sum or difference."""

WEIGHTED_SUMS = rules_of("a*x + b*y -> x + y or maximum(x, y) or maximum(a*x, y) or b*x + a*y")
"""An average without its weights, as the larger of both terms, or with each weight at the other term."""

EXCHANGED_OPERANDS = rules_of("a - b -> b - a", "a/b -> b/a", "a**b -> b**a")

ASIDE = "aside"
"""Holds the place of the first of two expressions while they are exchanged."""


def replacements_of(part: Expression, names: InputNames, *, of_operands: bool = False) -> Iterator[Expression]:
    """Yield what may replace a part of any program, the likeliest kinds first.

    Args:
        part: what is replaced.
        names: those of the program's inputs.
        of_operands: yield only edits that depend on the operands of the part.
    """
    if not isinstance(part, tuple) and part not in names.inputs:
        return  # a number, or a flag
    for kind in OF_OPERANDS if of_operands else KINDS:
        if kind in OF_CONDITIONS or not _is(part, *CONDITIONS):
            yield from kind(part, names)


def lines_of_slots(program: Program) -> Program:
    """Return the new value of each slot that changes."""
    return {slot: program[slot] for slot in slots_of(program) if program[slot] != slot}


def replacements_by_slots(part: Expression, new: Program) -> Iterator[Expression]:
    """Yield the replacements that the lines of the program suggest: the new slot for the old one, and the reverse.

    Args:
        part: what is replaced.
        new: `lines_of_slots` of the program that it is a part of.
    """
    if part in new:
        yield new[str(part)]
    elif part == GRAD:
        yield from new.values()
    else:
        yield from (slot for slot, expression in new.items() if expression == part)
    if _is(part, "square"):
        yield from (("square", ("subtract", part[1], line)) for line in new.values())  # type: ignore[index]
    if isinstance(part, tuple) and part[0] == "where":  # in the first step, say, something else stands for the old slot
        yield from (new[branch] for branch in part[2:] if branch in new)
    for line in new.values() if _is(part, SENT) else ():
        match line:
            case ("where", condition, _, kept) if condition == part:
                yield (SENT, kept, part[2])  # type: ignore[index]
    if isinstance(part, tuple) and not _is(part, *CONDITIONS):
        for i, operand in enumerate(part[1:], 1):
            for other in replacements_by_slots(operand, new) if not isinstance(operand, tuple) else ():
                yield (*part[:i], other, *part[i + 1 :])
            for slot, expression in new.items():
                if expression == operand:
                    yield (*part[:i], slot, *part[i + 1 :])


def _slots(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield another slot in the place of one, or a slot or the parameter for the gradient."""
    if part in names.slots:
        yield from names.slots
        yield 0.0
    elif part == GRAD:
        yield from (PARAM, *names.slots)


def powers(part: Expression) -> Iterator[Expression]:
    """Yield the square and the root."""
    yield from (("square", part), ("sqrt", part))


def _numbers(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield what stands in the place of a hyperparameter or of the step number."""
    if part in names.hyperparameters:
        yield from names.hyperparameters
        yield from (0.0, 1.0, ("subtract", 1, part), *powers(part))
    elif part == STEP:
        yield from (("add", STEP, 1), ("subtract", STEP, 1), 1)


def _operands(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield an operation with one operand changed: another input, a function less or more, a term less."""
    if isinstance(part, tuple):
        name = part[0]
        for i, operand in enumerate(part[1:], 1):
            others: list[Expression] = []
            if isinstance(operand, str):
                others += _slots(operand, names)
                others += _numbers(operand, names)
            elif _is(operand, *UNARY, "negative"):
                others.append(operand[1])
            elif _is(operand, "add", "subtract"):
                others += [term for term in operand[1:] if isinstance(term, tuple) or term == GRAD]
            if operand == GRAD and name not in UNARY:
                others += [SIGNED_ROOT, *((function, GRAD) for function in UNARY)]
                others += [("multiply", ("subtract", 1, decay), GRAD) for decay in names.hyperparameters]
            yield from ((*part[:i], new, *part[i + 1 :]) for new in others if not isinstance(new, int | float))


def _operations(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield an operation without one operand, replaced by another operation, or with a term moved."""
    if not isinstance(part, tuple):
        return
    name, *operands = part
    if name == "where":
        yield from operands[1:]
    elif not _is(part, *COMPARISONS):
        yield from operands
    if name == "subtract":
        yield ("negative", operands[1])
    if name in UNARY:
        yield from ((other, *operands) for other in UNARY)
    yield from ((str(other), *operands) for other in COUNTERPARTS.get(str(name), ()))
    if is_norm(part):
        total = operands[0][0]  # of one tensor, or of all
        yield from (("sqrt", (total, ("square", x))) for x in (GRAD, PARAM, *names.slots))
    if name == "multiply" and STEP in operands:
        yield ("floor", part)
    if name == "sign":
        yield ("where", ("greater_equal", operands[0], 0), 1.0, part)
    yield from _regrouped(part)


def _averages(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield a weighted sum without its weights, with each at the other term, or as the larger of both terms."""
    yield from rewritten(part, WEIGHTED_SUMS)


def _functions(part: Expression, names: InputNames) -> Iterator[Expression]:
    """Yield functions of the expression, its negative, and an operation with its operands exchanged."""
    yield from rewritten(part, EXCHANGED_OPERANDS)
    if isinstance(part, tuple) or part == GRAD:
        yield from ((name, part) for name in UNARY)
        if part == GRAD:
            yield SIGNED_ROOT
        if not _is(part, *NEVER_NEGATED):
            yield ("negative", part)


def _regrouped(part: Expression) -> Iterator[Expression]:
    """Yield the operation by `MOVED_TERMS`, in both orders of its operands, and by `WITHOUT_BRACKETS`."""
    yield from rewritten(part, MOVED_TERMS)
    match part:
        case (name, left, right):
            yield from rewritten((name, right, left), MOVED_TERMS)
    yield from rewritten(part, WITHOUT_BRACKETS)


def _is(part: Expression, *names: str) -> bool:
    return isinstance(part, tuple) and part[0] in names


OF_NORMS = (guarded, limited, excepted, norms_of_sums)
"""The kinds of edits of divisors, norms, and choices by them."""

KINDS = (_slots, _numbers, _operands, _operations, _averages, _functions, multiplied, added, deviating, *OF_NORMS)
"""The kinds of edits of one part."""

OF_OPERANDS = (_operands, _operations, _averages, *OF_NORMS)
"""The kinds that depend on the operands of a part."""

OF_CONDITIONS = (_operands, _operations, excepted)
"""The kinds of edits that conditions have, too."""


@cache
def choices_of_outputs(outputs: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the outputs in which an edit is made: all together, all but one, and each alone."""
    fewer = [tuple(i for i in outputs if i != left_out) for left_out in outputs]
    return list(dict.fromkeys([outputs, *fewer, *((i,) for i in outputs)]))[: None if len(outputs) > 1 else 1]
