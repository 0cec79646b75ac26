"""Layers: the building blocks of the documents' examples, appended to the default main program.

Names of parameters follow the documents: the layer ``fc_0`` has the weight ``fc_0.w_0`` and the bias ``fc_0.b_0``.
A layer that raises has appended nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from optimetry.reference.domains import real, whole
from optimetry.reference.errors import ProgramError
from optimetry.reference.programs import operators
from optimetry.reference.programs.building import (
    Attr,
    Initializer,
    ParamAttr,
    append,
    checked_variables,
    known_lengths,
    lengths_of,
    parameter,
    started,
    xavier,
    zeros,
)
from optimetry.reference.programs.program import (
    Operator,
    Parameter,
    Shape,
    Variable,
    all_or_nothing,
    default_main_program,
)
from optimetry.reference.schedulers import LRScheduler
from optimetry.reference.sparse import SparseRows

__all__ = [
    "ParamAttr",
    "concat",
    "create_global_var",
    "create_parameter",
    "cross_entropy",
    "data",
    "decay_step_counter",
    "dropout",
    "embedding",
    "fc",
    "mean",
    "operators",
    "reduce_mean",
    "reduce_sum",
    "scheduled",
    "square_error_cost",
]

COUNTER = "@LR_DECAY_COUNTER@"
"""The name of the global step, as in fluid."""


@all_or_nothing()
def data(
    name: str, shape: Sequence[int | None], dtype: Any = "float32", append_batch_size: bool = False, lod_level: int = 0
) -> Variable:
    """A variable that is fed.

    Args:
        name: the name under which it is fed.
        shape: its shape; None or -1 is a length that the fed array decides.
        dtype: the dtype of the fed array.
        append_batch_size: put a batch axis of any length in front: True for ``fluid.layers.data`` of page 000, whose
            default that was, False for ``fluid.data``.
        lod_level: accepted because the examples give it; must be 0.
    """
    if lod_level != 0:
        raise ProgramError(f"data {name}: lod_level = {lod_level!r}, must be 0")
    if not isinstance(shape, list | tuple):
        raise ProgramError(f"data {name}: shape = {shape!r}, must be a list of lengths")
    lengths: Shape = tuple(
        None if length in (None, -1) else whole(f"data {name}", "shape", length, "[0, inf)") for length in shape
    )
    lengths = (None, *lengths) if append_batch_size else lengths
    return default_main_program().variable(name, lengths, dtype, stop_gradient=True)


@all_or_nothing()
def fc(
    input: Variable | Sequence[Variable],  # noqa: A002 - the documented name
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Attr = None,
    bias_attr: Attr | Literal[False] = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """A fully connected layer: the sum of a matrix product for each input, plus a bias, through an activation.

    Args:
        input: one variable or several, shape (n, ...); what follows the batch axis is flattened.
        size: the number of outputs.
        num_flatten_dims: accepted because the examples give it; must be 1.
        param_attr: of the weights, drawn from Xavier's uniform distribution by default.
        bias_attr: of the bias, 0 by default; False means no bias.
        act: the name of an activation.
        name: the name of the layer.

    Returns:
        A variable of shape (n, size).
    """
    program = default_main_program()
    inputs = checked_variables("fc", "input", [input] if isinstance(input, Variable) else input)
    whole("fc", "size", size, "[1, inf)")
    if num_flatten_dims != 1:
        raise ProgramError(f"fc: num_flatten_dims = {num_flatten_dims!r}, must be 1")
    if act is not None and act not in operators.ACTIVATIONS:
        raise ProgramError(f"fc: act = {act!r}, must be None or one of {', '.join(operators.ACTIVATIONS)}")
    layer = name or program.unique("fc")
    for variable in inputs:
        if len(variable.shape) < 2:
            raise ProgramError(f"fc: input = {variable!r}, must have a batch axis and at least one more")
    shape = (inputs[0].shape[0], size)
    result = None
    for variable in inputs:
        fan_in = math.prod(known_lengths(variable, variable.shape[1:]))
        weight = parameter(f"{layer}.w", (fan_in, size), variable.dtype, param_attr, xavier)
        product = append(layer, "mul", operators.mul, (variable, weight), shape)
        result = product if result is None else append(layer, "add", operators.add, (result, product), shape)
    assert result is not None  # there is at least one input
    if bias_attr is not False:
        bias = parameter(f"{layer}.b", (size,), result.dtype, bias_attr, zeros)
        result = append(layer, "add", operators.add, (result, bias), shape)
    return result if act is None else append(layer, act, operators.ACTIVATIONS[act], (result,), shape)


def mean(x: Variable, shape: tuple[int, ...] = ()) -> Variable:
    """The mean of all elements, 0-d, or of another shape that holds one element: (1,) in fluid."""
    return append("mean", "mean", operators.shaped(operators.mean, shape), (x,), shape)


def reduce_mean(x: Variable, shape: tuple[int, ...] = ()) -> Variable:
    """The mean of all elements; see `mean`."""
    return append("reduce_mean", "reduce_mean", operators.shaped(operators.mean, shape), (x,), shape)


def reduce_sum(x: Variable, shape: tuple[int, ...] = ()) -> Variable:
    """The sum of all elements; see `mean`."""
    return append("reduce_sum", "reduce_sum", operators.shaped(operators.reduce_sum, shape), (x,), shape)


def square_error_cost(input: Variable, label: Variable) -> Variable:  # noqa: A002 - the documented name
    """The squared error of each element."""
    return append("square_error_cost", "square_error_cost", operators.square_error_cost, (input, label), input.shape)


def cross_entropy(input: Variable, label: Variable) -> Variable:  # noqa: A002 - the documented name
    """The cross entropy of rows of probabilities, shape (n, k), and labels, int64 of shape (n, 1): shape (n, 1)."""
    return append("cross_entropy", "cross_entropy", operators.cross_entropy, (input, label), (input.shape[0], 1))


@all_or_nothing()
def embedding(
    input: Variable,  # noqa: A002 - the documented name
    size: Sequence[int],
    is_sparse: bool = False,
    param_attr: Attr = None,
    dtype: Any = "float32",
) -> Variable:
    """Rows of a table.

    Args:
        input: row numbers, int64 of shape (..., 1).
        size: rows and columns of the table.
        is_sparse: whether the gradient of the table is `SparseRows`.
        param_attr: of the table, drawn from Xavier's uniform distribution by default.
        dtype: of the table.

    Returns:
        A variable of shape (..., columns).
    """
    if not isinstance(size, list | tuple) or len(size) != 2:
        raise ProgramError(f"embedding: size = {size!r}, must be a list of rows and columns")
    height, width = (whole("embedding", "size", length, "[1, inf)") for length in size)
    layer = default_main_program().unique("embedding")
    (ids,) = checked_variables("embedding", "input", [input])
    if ids.dtype.kind != "i" or ids.shape[-1:] != (1,):
        raise ProgramError(f"embedding: input = {ids!r}, must hold integers, its last axis of length 1")
    table = parameter(f"{layer}.w", (height, width), dtype, param_attr, xavier)

    def rows_of_gradient(index: int, gradient: Any, inputs: list[Any]) -> SparseRows:
        return SparseRows(inputs[1].reshape(-1), gradient.reshape(-1, width), height)

    return append(
        layer,
        "lookup",
        operators.lookup,
        (table, input),
        (*input.shape[:-1], width),
        gradient=rows_of_gradient if is_sparse else None,
    )


@all_or_nothing()
def concat(input: Sequence[Variable], axis: int = 0) -> Variable:  # noqa: A002 - the documented name
    """Variables joined along an axis."""
    input = checked_variables("concat", "input", input)  # noqa: A001 - the documented name
    if not all(-len(variable.shape) <= axis < len(variable.shape) for variable in input):
        raise ProgramError(f"concat: axis = {axis!r}, must be an axis of {', '.join(map(repr, input))}")
    lengths = [variable.shape[axis] for variable in input]
    total = None if None in lengths else sum(length for length in lengths if length is not None)
    shape = list(input[0].shape)
    shape[axis] = total
    return append("concat", "concat", operators.concat(axis), tuple(input), tuple(shape))


@all_or_nothing()
def dropout(x: Variable, dropout_prob: float, seed: int | None = None) -> Variable:
    """Zero each element with a probability; in a program for testing, scale by the probability that it stays.

    Args:
        x: any float variable.
        dropout_prob: in [0, 1].
        seed: decides the masks, together with the number of the run; None takes one from the program's seed.
    """
    real("dropout", "dropout_prob", dropout_prob, "[0, 1]")
    program = default_main_program()
    layer = program.unique("dropout")
    seed = program.next_seed() if seed is None else whole("dropout", "seed", seed, "[0, inf)")
    return append(
        layer,
        "dropout",
        operators.dropout(dropout_prob, seed),
        (x, program.run_number),
        x.shape,
        at_test=operators.dropout_at_test(dropout_prob),
    )


@all_or_nothing()
def create_parameter(
    shape: Sequence[int], dtype: Any, name: str | None = None, attr: Attr = None, initializer: Initializer | None = None
) -> Parameter:
    """A parameter of its own, drawn from Xavier's uniform distribution unless ``initializer`` says otherwise."""
    attr = ParamAttr(name=name) if attr is None and name is not None else attr
    return parameter("create_parameter", lengths_of("create_parameter", shape), dtype, attr, initializer or xavier)


@all_or_nothing()
def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = True, name: str | None = None
) -> Variable:
    """A variable that the startup program fills with a value, such as a learning rate."""
    lengths = lengths_of("create_global_var", shape)
    real("create_global_var", "value", value, "(-inf, inf)")
    name = name or default_main_program().unique("global_var")
    variable = default_main_program().variable(name, lengths, dtype, persistable=persistable, stop_gradient=True)
    started(variable, lambda: np.full(lengths, value, dtype))
    return variable


@all_or_nothing()
def decay_step_counter(begin: int = 0) -> Variable:
    """The global step of schedules: an int64 of shape (1,), ``begin`` in the first run and one more in each later one.

    A program has one, which the startup program sets back; where there is one already, ``begin`` is not read.
    """
    program = default_main_program()
    if COUNTER in program.variables:
        return program.variables[COUNTER]
    counter = program.variable(COUNTER, (1,), np.int64, persistable=True, stop_gradient=True)
    started(counter, lambda: np.array([begin - 1]))
    program.operators.insert(0, Operator("increment", lambda count: count + 1, (counter,), (counter,), "optimize"))
    return counter


@all_or_nothing()
def scheduled(schedule: LRScheduler) -> Variable:
    """The learning rate of a schedule at the global step: a float32 of shape (1,), which a program computes itself."""
    counter = decay_step_counter(schedule.last_epoch)
    program = default_main_program()
    rate = program.variable(program.unique("learning_rate"), (1,), np.float32, stop_gradient=True)

    def at_step(count: Any) -> Any:
        return np.array([schedule.rate(int(count[0]))])

    program.append(Operator(type(schedule).__name__, at_step, (counter,), (rate,), "optimize"))
    return rate
