"""Evaluates programs on any kind of number: an update of a rule, a step of a wrapper, a state before the first step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.compression import rounded_up
from optimetry.conformance.naming.formulas.programs import (
    EVERY,
    FIRST,
    GRAD,
    OVER_ALL,
    PARAM,
    RATE,
    SENT,
    SENT_ROUNDED_UP,
    STEP,
    Expression,
    Program,
    parts_of,
    slots_of,
)
from optimetry.conformance.numerics.arithmetic import incremented
from optimetry.conformance.subjects.wrappers.compression import are_sent
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.rule import Rule, State


def of_tensor(x: Any) -> Any:
    """Sum all elements, as a rule does."""
    return np.sum(x, initial=0.0)


def of_rows(x: Any) -> Any:
    """Sum each row, where tensors of one shape are evaluated together as the rows of a matrix."""
    return np.add.reduce(x, axis=-1, keepdims=True, initial=0.0)


def of_matrices(x: Any) -> Any:
    """Sum all tensors of each case, where a case is a matrix with a tensor in each row."""
    return np.sum(x, axis=(-2, -1), keepdims=True, initial=0.0)


def sent(v: Any, sparsity: Any, count: Callable[[int, float], int] | None = None) -> Any:
    """Mark the entries of a tensor that are sent; all where one number stands for it, as before the first step."""
    return are_sent(v, sparsity, count) if hasattr(v, "shape") else True


INCREMENT = "increment"
"""A moving average after an increment, ``m + (1-b)*(x - m)``, of the average, the gain and what is new."""

OWN: dict[str, Callable[..., Any]] = {
    "sum": of_tensor,
    INCREMENT: incremented,
    SENT: sent,
    SENT_ROUNDED_UP: partial(sent, count=rounded_up),
}
"""The operations that are not NumPy functions."""


def _function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = OWN.get(name) or getattr(np, name)
    return function


def sent_of_rows(v: Any, sparsity: Any, *, up: bool = False) -> Any:
    """Mark the entries of each row that are sent."""
    v = np.atleast_1d(v)  # one number is sent
    magnitude = np.where(np.isnan(v), np.inf, np.abs(v))
    rank = np.argsort(np.argsort(-magnitude, axis=-1, kind="stable"), axis=-1)
    number = np.round(v.shape[-1] * (1 - sparsity), 9)  # an exact decimal is not cut to the number below
    return rank < np.maximum(np.ceil(number) if up else np.floor(number), 1)


def shared(program: Program) -> Program:
    """Make equal parts one object, which is known by its identity: the hash of one is that of all its parts."""
    known: dict[Expression, Expression] = {}
    done: dict[int, Expression] = {}

    def walk(part: Expression) -> Expression:
        if not isinstance(part, tuple):
            return part
        if id(part) not in done:
            whole = (part[0], *map(walk, part[1:]))
            done[id(part)] = known.setdefault(whole, whole)
        return done[id(part)]

    return {name: walk(expression) for name, expression in program.items()}


def is_one(operation: str, *operands: Expression) -> bool:
    """Return whether an operation divides something by itself: a number that is left out, in the words of a search."""
    return operation == "divide" and operands[0] == operands[1]


def value_of(expression: Expression, inputs: Mapping[str, Any], known: dict[int, Any]) -> Any:
    """Evaluate an expression on any kind of number; ``known`` keeps the value of every part, by its identity."""
    if isinstance(expression, str):
        return inputs[expression]
    if not isinstance(expression, tuple):
        return expression
    if expression[0] == "where" and isinstance(flag := value_of(expression[1], inputs, known), bool):
        return value_of(expression[2 if flag else 3], inputs, known)
    key = id(expression)
    if key not in known:
        operands = [value_of(operand, inputs, known) for operand in expression[1:]]
        left_out = is_one(*expression) and not getattr(operands[0], "ndim", 0)  # of arrays, 0/0 is NaN in some elements
        value = np.zeros_like(operands[0]) + 1 if left_out else _function(expression[0])(*operands)
        if isinstance(value, np.generic) and all(isinstance(x, int | float) for x in operands):
            value = value.item()  # numbers stay Python's, which take the dtype of the array that they meet
        known[key] = value
    return known[key]


def updated(
    program: Program,
    hyper: Mapping[str, Any],
    param: Any,
    grad: Any,
    state: State,
    lr: Any,
    t: int,
) -> tuple[Any, State]:
    """Do one update of a `shared` program, as `Rule.update`, with these hyperparameters."""
    turns = {slot: (t - 1) % every for slot, every in _turns(program, hyper).items()}
    used = {slot: x[turns[slot]] if slot in turns else x for slot, x in state.items()}
    inputs = {**hyper, PARAM: param, GRAD: grad, RATE: lr, STEP: t, **used}
    for slot in state if t == 1 else ():
        if GRAD in parts_of(program[FIRST + slot]):
            inputs[slot] = value_of(program[FIRST + slot], inputs, {})
    known: dict[int, Any] = {}
    values = {name: _array(value_of(program[name], inputs, known), param) for name in (PARAM, *state)}
    for slot, turn in turns.items():
        here = (np.arange(state[slot].shape[0]) == turn).reshape((-1,) + (1,) * param.ndim)
        values[slot] = np.where(here, values[slot], state[slot])
    return values.pop(PARAM), State(**values)


def _turns(program: Program, hyper: Mapping[str, Any]) -> dict[str, int]:
    """Return the slots with several entries, each with the number of those that are used in turn."""
    slots = [name.removeprefix(EVERY) for name in program if name.startswith(EVERY)]
    return {slot: int(value_of(program[EVERY + slot], hyper, {})) for slot in slots}


def fed_through(
    program: Program,
    hyper: Mapping[str, Any],
    fed: Sequence[Any],
    parameters: Sequence[Any],
    state: Any,
) -> tuple[list[Any], Any]:
    """Do one step of a wrapper by a `shared` program, as `Wrapper.feed`.

    The state is the number of steps so far and the slots of each tensor; slots that are numbers stay numbers.
    """
    steps, held = state or (0, [{}] * len(fed))
    slots = slots_of(program)
    inputs: list[dict[str, Any]] = []
    for grad, param, values in zip(fed, parameters, held, strict=True):
        arguments = {**hyper, GRAD: grad, PARAM: param, STEP: steps + 1}
        first = {slot: value_of(program[FIRST + slot], arguments, {}) for slot in slots if not steps}
        inputs.append({**arguments, **first, **values})
    known: list[dict[int, Any]] = [{} for _ in inputs]
    each = list(zip(inputs, known, strict=True))
    for part in parts_of(program[PARAM]):
        if isinstance(part, tuple) and part[0] == OVER_ALL:
            terms = [of_tensor(value_of(part[1], arguments, values)) for arguments, values in each]
            for values in known:
                values[id(part)] = sum(terms[1:], start=terms[0])
    results = [_array(value_of(program[PARAM], arguments, values), arguments[PARAM]) for arguments, values in each]
    kept = [{slot: value_of(program[slot], arguments, values) for slot in slots} for arguments, values in each]
    return results, (steps + 1, kept)


def _array(value: Any, param: Any) -> Any:
    """Return an array of numbers like the parameter where an expression is one number."""
    return np.zeros_like(param) + value if isinstance(value, int | float) else value


def first_state(program: Program, hyper: Mapping[str, Any], param: Any) -> State:
    """Return the slots of a program before the first step, as `Rule.initial_state`, with these hyperparameters.

    A slot that begins with something of the first gradient is zero until there is one.
    """
    inputs, known = {**hyper, PARAM: param}, {}  # type: ignore[var-annotated]
    names = [name.removeprefix(FIRST) for name in program if name.startswith(FIRST)]
    first = {name: 0.0 if GRAD in parts_of(program[FIRST + name]) else program[FIRST + name] for name in names}
    values = {name: value_of(first[name], inputs, known) for name in names}
    sizes = {
        name.removeprefix(EVERY): max(int(x) for x in hyper.values() if type(x) is int)
        for name in program
        if name.startswith(EVERY)
    }
    shapes = {name: (sizes[name], *param.shape) if name in sizes else param.shape for name in names}
    return State(**{name: np.zeros_like(param, shape=shapes[name]) + value for name, value in values.items()})


def evaluating(kind: type[Any], program: Program) -> type[Any]:
    """Return a subclass of a rule or a wrapper that does what a `shared` program says, which it keeps."""

    def initial_state(self: Rule, param: Any) -> State:
        return first_state(program, vars(self), param)

    def update(self: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        return updated(program, vars(self), param, grad, state, lr, t)

    def feed(self: Any, fed: Sequence[Any], parameters: Sequence[Any], state: Any) -> tuple[list[Any], Any]:
        return fed_through(program, vars(self), fed, parameters, state)

    steps = {"feed": feed} if issubclass(kind, Wrapper) else {"initial_state": initial_state, "update": update}
    body = {**steps, "program": program, "__doc__": kind.__doc__, "__module__": kind.__module__}
    return type(f"Evaluated{kind.__name__}", (kind,), body)
