"""The parts of layers: variables, parameters, and operators between them, in the default programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError, ProgramError
from optimetry.reference.programs.arithmetic import appends
from optimetry.reference.programs.operators import check_whole
from optimetry.reference.programs.program import (
    Operator,
    Parameter,
    Shape,
    Variable,
    all_or_nothing,
    default_main_program,
    default_startup_program,
)

Initializer = Callable[[np.random.Generator, tuple[int, ...]], Any]


@dataclass(frozen=True)
class ParamAttr:
    """The attributes that a layer's parameter is created with.

    Attributes:
        name: its name; None lets the layer choose.
        initializer: a function of a random generator and the shape; None means the layer's default.
        learning_rate: a factor on the optimizer's learning rate.
        regularizer: replaces the optimizer's regularizer.
        trainable: whether it gets a gradient.
    """

    name: str | None = None
    initializer: Initializer | None = None
    learning_rate: float = 1.0
    regularizer: Any = None
    trainable: bool = True


Attr = ParamAttr | str | None


def attr_of(prefix: str, attr: Any) -> ParamAttr:
    """The attributes for an argument; a name alone sets the name, and None leaves all at their defaults.

    Raises:
        ArgumentError: it is none of these.
    """
    attr = ParamAttr(name=attr) if isinstance(attr, str) else ParamAttr() if attr is None else attr
    if not isinstance(attr, ParamAttr):
        raise ArgumentError(f"{prefix}: attr = {attr!r}, must be a ParamAttr, a name or None")
    return attr


def lengths_of(owner: str, shape: Any) -> tuple[int, ...]:
    """A shape whose lengths are all known."""
    if not isinstance(shape, list | tuple):
        raise ProgramError(f"{owner}: shape = {shape!r}, must be a list of lengths")
    return tuple(whole(owner, "shape", length, "[0, inf)") for length in shape)


def checked_variables(owner: str, argument: str, inputs: Any) -> list[Variable]:
    """The inputs as a list: variables, at least one; an error names anything else."""
    if not isinstance(inputs, list | tuple) or not inputs or not all(isinstance(each, Variable) for each in inputs):
        raise ProgramError(f"{owner}: {argument} = {inputs!r}, must be a variable, or a list of variables where it may")
    return list(inputs)


@all_or_nothing()
def append(
    layer: str,
    name: str,
    function: Callable[..., Any],
    inputs: tuple[Variable, ...],
    shape: Shape,
    **replacements: Any,
) -> Variable:
    """Append a forward operator with one output, named after the layer, in the dtype of the first input."""
    program = default_main_program()
    checked_variables(name, "input", inputs)
    out = program.variable(program.unique(f"{layer}.tmp"), shape, inputs[0].dtype)
    program.append(Operator(name, function, inputs, (out,), **replacements))
    return out


def parameter(prefix: str, shape: tuple[int, ...], dtype: Any, attr: Attr, default: Initializer) -> Parameter:
    """A parameter with the name of its `ParamAttr`, else ``prefix`` and a number.

    A parameter that has the name already is shared.
    """
    attr = attr_of(prefix, attr)
    program = default_main_program()
    parameter = program.parameter(
        attr.name or program.unique(prefix),
        shape,
        dtype,
        trainable=attr.trainable,
        regularizer=attr.regularizer,
        learning_rate=attr.learning_rate,
    )
    initializer, seed = attr.initializer or default, program.next_seed()
    if parameter.name not in default_startup_program().variables:
        started(parameter, lambda: np.asarray(initializer(np.random.default_rng(seed), shape)).astype(dtype))
    return parameter


def started(variable: Variable, first_value: Callable[[], Any]) -> None:
    """Append to the startup program the operator that gives a variable its first value."""
    startup = default_startup_program()
    there = startup.variable(variable.name, variable.shape, variable.dtype, persistable=True)
    startup.append(Operator("initialize", first_value, (), (there,)))


def known_lengths(variable: Variable, shape: Shape) -> list[int]:
    """Lengths that must not be left to the fed array."""
    if None in shape:
        raise ProgramError(f"fc: {variable.name} has shape {variable.shape}, must be known after the batch axis")
    return [length for length in shape if length is not None]


def xavier(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Xavier's uniform distribution."""
    limit = math.sqrt(6 / max(1, sum(shape[:1]) + sum(shape[1:2])))
    return generator.uniform(-limit, limit, shape)


def zeros(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Zeros, whatever the generator."""
    return np.zeros(shape)


@appends
def elementwise(function: Callable[..., Any], x: Variable, other: Any, swapped: bool = False) -> Variable:
    """The result of Python's arithmetic on a variable and a number or another variable; see `Arithmetic`."""
    name = f"elementwise_{function.__name__}"
    check_whole(function, other, x.dtype)
    if isinstance(other, Variable):
        shape = _broadcast(name, x, other)
        return append(name, name, function, (other, x) if swapped else (x, other), shape)
    if not isinstance(other, float | int | np.number) or isinstance(other, bool):
        raise ProgramError(f"{name}: {other!r}, must be a number or a variable")
    of_number = (lambda array: function(other, array)) if swapped else (lambda array: function(array, other))
    return append(name, name, of_number, (x,), x.shape)


def _broadcast(name: str, x: Variable, y: Variable) -> Shape:
    """The shape of two variables together, as NumPy broadcasts; of a known length and an unknown one the known."""
    shape: list[int | None] = []
    for a, b in zip_longest(reversed(x.shape), reversed(y.shape), fillvalue=1):
        if a != b and 1 not in (a, b) and None not in (a, b):
            raise ProgramError(f"{name}: shapes {x.shape} of {x.name} and {y.shape} of {y.name} do not broadcast")
        shape.append(b if a == 1 or (a is None and b not in (1, None)) else a)
    return tuple(reversed(shape))
