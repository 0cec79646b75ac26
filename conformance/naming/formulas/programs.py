"""Traces a rule's update into expressions that can be edited; `evaluated` does them on any numbers.

An expression is a number, the name of an input, or a tuple: the name of a NumPy function and its operands. Equal
expressions are equal tuples, so a part is replaced wherever it stands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from optimetry.conformance.naming.formulas.branches import answered, on_every_path
from optimetry.conformance.naming.formulas.leaves import leaves_of, with_leaves
from optimetry.conformance.subjects.wrappers.compression import are_sent
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.declaration import Declared
from optimetry.reference.errors import OptimetryError
from optimetry.reference.rule import State

Expression: TypeAlias = "str | float | tuple[Any, ...]"

PARAM, GRAD, RATE, STEP = "param", "grad", "lr", "t"
"""The names of the inputs beside hyperparameters and slots; `PARAM` also names the new parameter among the outputs."""

Program = dict[str, Expression]
"""What one update computes: the expression of the new parameter and of each new slot; and of each slot at first."""

FIRST = "initial "
"""Stands before the name of a slot in the name of its value before the first step."""

EVERY = "steps between "
"""Stands before the name of a slot with an entry for each of several steps, which are used in turn: how many."""

BEFORE: Expression = ("subtract", STEP, 1)
"""How many steps were before this one."""

SENT, SENT_ROUNDED_UP = "are_sent", "are_sent_rounded_up"
"""Which entries a compression sends, by their values and the sparsity; and if their number is rounded up."""

OVER_ALL = "sum_over_all"
"""The sum over all tensors of a step, where a wrapper's result of one depends on the others."""

TURN = "turn"
"""Marks the entry that this step uses."""


class Turns(int):
    """A whole hyperparameter with its name."""

    name: str


class Symbol(NDArrayOperatorsMixin):
    """An array or a number that stands for an expression; NumPy's functions of it make longer ones.

    Of a slot with several entries it stands for the one that the step uses.
    """

    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __getitem__(self, entry: Any) -> Symbol:
        return self

    def reshape(self, shape: Any) -> Symbol:
        """Return the same."""
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, np.ndarray) for x in inputs):
            return Symbol(TURN)
        return Symbol(_made(ufunc.__name__, *map(_expression, inputs))) if method == "__call__" else NotImplemented

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        name = func.__name__
        if name == "where" and _expression(args[0]) == TURN:
            return args[1]
        return Symbol(0.0 if name == "zeros_like" else (name, *map(_expression, args)))

    def __bool__(self) -> bool:
        return answered(self.expression)


@are_sent.register
def _(v: Symbol, sparsity: Any, count: Any = None) -> Symbol:
    return Symbol((SENT, v.expression, _expression(sparsity)))


def _made(name: str, *operands: Expression) -> Expression:
    """Return an operation; its first operand where the other changes nothing, and 1 for a power of 0."""
    without = {"add": 0, "subtract": 0, "multiply": 1, "divide": 1}.get(name)
    if without is not None and operands[1] == without:
        return operands[0]
    made, first, last = (name, *operands), operands[0], operands[-1]
    known: dict[Expression, Expression] = {("add", BEFORE, 1): STEP, ("add", 0, last): last, ("power", first, 0): 1.0}
    return known.get(made, made)


def _expression(operand: Any) -> Expression:
    if isinstance(operand, Symbol):
        return operand.expression
    if isinstance(operand, Turns):
        return operand.name
    if isinstance(operand, int | float):
        return float(operand) if isinstance(operand, float) else int(operand)  # a scalar of NumPy is no plain number
    raise TypeError(f"{operand!r} is neither a symbol nor a number")


def program_of(rule: Declared, fixed: Sequence[str] = ()) -> Program | None:
    """Trace one update, or one step of a wrapper, with every real hyperparameter and every flag by its name.

    None where the rule cannot be traced: it chooses the largest elements, say, or adds up rows.

    Args:
        rule: the formula.
        fixed: the hyperparameters that keep their values in `rule`: flags, and numbers that are 0.
    """
    if rule.shaped:
        return None
    flags = [parameter.name for parameter in rule.hyperparameters() if parameter.kind is bool]
    known = {flag: bool(getattr(rule, flag)) for flag in flags if flag in fixed}
    program = _with_flags(rule, known, [flag for flag in flags if flag not in fixed])
    zeros = [name for name in fixed if name not in flags]
    return program and {name: _without(expression, zeros) for name, expression in program.items()}


def _without(expression: Expression, zeros: Sequence[str]) -> Expression:
    """Put 0 in the place of some inputs, and leave out what is multiplied by it."""
    if not isinstance(expression, tuple):
        return 0.0 if expression in zeros else expression
    name, *operands = (expression[0], *(_without(operand, zeros) for operand in expression[1:]))
    return 0.0 if name == "multiply" and 0.0 in operands else _made(name, *operands)


def _with_flags(rule: Declared, known: Mapping[str, bool], flags: Sequence[str]) -> Program | None:
    """Trace both branches of the first flag, and join them."""
    if not flags:
        return _traced(rule, known)
    flag, *others = flags
    on, off = (_with_flags(rule, {**known, flag: value}, others) for value in (True, False))
    return None if on is None or off is None else {name: _joined(flag, on[name], off[name]) for name in on}


def _joined(flag: str, on: Expression, off: Expression) -> Expression:
    """Choose by a flag where two expressions differ, as far inside as they have one difference alone.

    What a flag adds to a part, such as a sign to the gradient, it adds wherever that stands. A choice by what the flag
    changes, too, stays one choice.
    """
    if on == off:
        return on
    added = _added(flag, on, off)
    if added is not None:
        return added
    name, pairs = _operands(on, off)
    same_choice = name == "where" and pairs[0][0] != pairs[0][1]
    if sum(a != b for a, b in pairs) == 1 or same_choice:
        return (name, *(a if a == b else _joined(flag, a, b) for a, b in pairs))
    return ("where", flag, on, off)


def _operands(a: Expression, b: Expression) -> tuple[str, list[tuple[Expression, Expression]]]:
    """Return the operation of two expressions and their operands in pairs; none where the operations differ."""
    if isinstance(a, tuple) and isinstance(b, tuple) and (a[0], len(a)) == (b[0], len(b)):
        return a[0], list(zip(a[1:], b[1:], strict=True))
    return "", []


def _added(flag: str, on: Expression, off: Expression) -> Expression | None:
    """Choose by a flag around each part to which it adds something; None where it does anything else."""
    if on == off:
        return on
    if off in parts_of(on) or on in parts_of(off):
        return ("where", flag, on, off)
    name, pairs = _operands(on, off)
    operands = [_added(flag, *pair) for pair in pairs]
    return (name, *operands) if pairs and None not in operands else None


def _traced(rule: Declared, flags: Mapping[str, bool]) -> Program | None:
    """Trace one update with these flags.

    All tensors of a wrapper are traced as one: a joint one sums over all of them.
    """
    symbolic: Any = object.__new__(type(rule))
    kinds = {parameter.name: parameter.kind for parameter in rule.hyperparameters()}
    for field in dataclasses.fields(rule):
        kind: Any = kinds.get(field.name)
        value: Any = flags.get(field.name, getattr(rule, field.name))
        if kind is float:
            value = Symbol(field.name)
        elif kind is int:
            value = Turns(value)
            value.name = field.name
        object.__setattr__(symbolic, field.name, value)
    try:
        if isinstance(rule, Wrapper):
            program = _of_wrapper(symbolic)
            over = OVER_ALL if rule.joint else "sum"
            return program and {name: summed_over(expression, over) for name, expression in program.items()}
        first = symbolic.initial_state(Symbol(PARAM))
        names = list(first)
        inputs = State(**{slot: Symbol(slot) for slot in names})
        update = _on_symbols(type(symbolic).update)

        def updated() -> Program:
            param, state = update(symbolic, Symbol(PARAM), Symbol(GRAD), inputs, Symbol(RATE), Symbol(STEP))
            return {PARAM: _expression(param), **{slot: _expression(state[slot]) for slot in names}}

        new = on_every_path(updated, about=STEP)
        held = rule.initial_state(np.zeros(())) if int in kinds.values() else {}  # type: ignore[attr-defined]
        several = [slot for slot, x in held.items() if x.ndim]
        every = {EVERY + slot: name for slot in several for name, kind in kinds.items() if kind is int}
        return {**new, **{FIRST + slot: _expression(first[slot]) for slot in names}, **every}
    except (AttributeError, TypeError, OptimetryError):
        return None


def _of_wrapper(symbolic: Wrapper, counts: frozenset[str] = frozenset()) -> Program | None:
    """Trace one step of a wrapper: what it keeps are slots, except for ``counts`` of steps, which the step knows.

    None where a subclass computes otherwise what its base begins with.
    """
    fed: list[Any] = [Symbol(GRAD)]
    parameters: list[Any] = [Symbol(PARAM)]
    computes = next(kind for kind in type(symbolic).__mro__ if "feed" in vars(kind))
    first = symbolic.first(fed) if "first" in vars(computes) else None
    before = dict(leaves_of(first)) if first is not None else {}

    def stepped() -> Program:
        symbols = [Symbol(BEFORE if name in counts else name) for name in before]
        returned, state = symbolic.feed(fed, parameters, None if first is None else with_leaves(first, iter(symbols)))
        after = [] if state is None else [_expression(x) for _, x in leaves_of(state)]
        if len(after) != len(before):
            raise TypeError("a subclass keeps what its base does not begin with")
        return {PARAM: _expression(returned[0]), **dict(zip(before, after, strict=True))}

    program = on_every_path(stepped)
    if "result" in vars(computes):  # of the state alone: traced behind its branches, not once in each
        state = with_leaves(first, iter([Symbol(program[name]) for name in before]))
        program[PARAM] = _expression(vars(computes)["result"](symbolic, state)[0])
    advancing = frozenset(name for name, x in before.items() if type(x) is int and program[name] == ("add", name, 1))
    if advancing:
        return _of_wrapper(symbolic, advancing)
    slots = {name: _expression(x) for name, x in before.items() if name not in counts}
    if "" in slots or any(program.pop(name) != STEP for name in counts):
        return None
    return {**program, **{FIRST + name: x for name, x in slots.items()}}


def _on_symbols(update: Any) -> Callable[..., Any]:
    """Return a function with NumPy's smaller and larger of two numbers in the place of Python's."""
    names = {**update.__globals__, "min": np.minimum, "max": np.maximum}
    return FunctionType(update.__code__, names, closure=update.__closure__)


def slots_of(program: Program) -> list[str]:
    """Return the names of a program's slots."""
    return [name for name in program if name != PARAM and not name.startswith((FIRST, EVERY))]


def parts_of(expression: Expression) -> dict[Expression, None]:
    """Return every part of an expression once, operands before what they are part of."""
    parts: dict[Expression, None] = {}

    def walk(part: Expression) -> None:
        if part not in parts:
            for operand in part[1:] if isinstance(part, tuple) else ():
                walk(operand)
            parts[part] = None

    walk(expression)
    return parts


def replaced(expression: Expression, old: Expression, new: Expression) -> Expression:
    """Put one expression in the place of another wherever that stands."""
    known: dict[Expression, Expression] = {old: new}

    def walk(part: Expression) -> Expression:
        if part not in known:
            known[part] = (part[0], *map(walk, part[1:])) if isinstance(part, tuple) else part
        return known[part]

    return walk(expression)


def simplified(expression: Expression) -> Expression:
    """Leave out what a factor, a divisor or a root of 1 does."""
    if not isinstance(expression, tuple):
        return expression
    name, *operands = (expression[0], *map(simplified, expression[1:]))
    if name == "multiply" and operands[0] == 1:
        return operands[1]
    return 1.0 if name == "sqrt" and operands[0] == 1 else _made(name, *operands)


def is_norm(part: Expression) -> bool:
    """Whether an expression is the root of a sum of squares, of one tensor or of all."""
    match part:
        case ("sqrt", (("sum" | "sum_over_all"), ("square", _))):
            return True
    return False


def summed_over(expression: Expression, name: str) -> Expression:
    """Put the sum of one kind in the place of every sum."""
    if not isinstance(expression, tuple):
        return expression
    operands = (summed_over(operand, name) for operand in expression[1:])
    return (name if expression[0] in ("sum", OVER_ALL) else expression[0], *operands)
