"""Layers: the building blocks of the documents' examples, appended to the default main program.

Names of parameters follow the documents: the layer ``fc_0`` has the weight ``fc_0.w_0`` and the bias ``fc_0.b_0``.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optimetry.reference.errors import ProgramError
from optimetry.reference.programs import operators
from optimetry.reference.programs.program import (
    Operator,
    Parameter,
    Program,
    Shape,
    Variable,
    default_main_program,
    default_startup_program,
)
from optimetry.reference.sparse import SparseRows

Initializer = Callable[[np.random.Generator, tuple[int, ...]], Any]


@dataclass(frozen=True)
class ParamAttr:
    """What a layer's parameter is created with.

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
    lengths: Shape = tuple(None if length in (None, -1) else length for length in shape)
    lengths = (None, *lengths) if append_batch_size else lengths
    return default_main_program().variable(name, lengths, dtype, stop_gradient=True)


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
    inputs = [input] if isinstance(input, Variable) else list(input)
    if num_flatten_dims != 1:
        raise ProgramError(f"fc: num_flatten_dims = {num_flatten_dims!r}, must be 1")
    if act is not None and act not in operators.ACTIVATIONS:
        raise ProgramError(f"fc: act = {act!r}, must be None or one of {', '.join(operators.ACTIVATIONS)}")
    layer = name or program.unique("fc")
    shape = (inputs[0].shape[0], size)
    result = None
    for i, variable in enumerate(inputs):
        fan_in = math.prod(_known(variable, variable.shape[1:]))
        weight = _parameter(f"{layer}.w_{i}", (fan_in, size), variable.dtype, param_attr, _xavier)
        product = _append(layer, "mul", operators.mul, (variable, weight), shape)
        result = product if result is None else _append(layer, "add", operators.add, (result, product), shape)
    if result is None:
        raise ProgramError("fc: input = [], must hold a variable")
    if bias_attr is not False:
        bias = _parameter(f"{layer}.b_0", (size,), result.dtype, bias_attr, _zeros)
        result = _append(layer, "add", operators.add, (result, bias), shape)
    return result if act is None else _append(layer, act, operators.ACTIVATIONS[act], (result,), shape)


def mean(x: Variable) -> Variable:
    """The mean of all elements, 0-d."""
    return _append("mean", "mean", operators.mean, (x,), ())


def reduce_mean(x: Variable) -> Variable:
    """The mean of all elements, 0-d."""
    return _append("reduce_mean", "reduce_mean", operators.mean, (x,), ())


def reduce_sum(x: Variable) -> Variable:
    """The sum of all elements, 0-d."""
    return _append("reduce_sum", "reduce_sum", operators.reduce_sum, (x,), ())


def square_error_cost(input: Variable, label: Variable) -> Variable:  # noqa: A002 - the documented name
    """The squared error of each element."""
    return _append("square_error_cost", "square_error_cost", operators.square_error_cost, (input, label), input.shape)


def cross_entropy(input: Variable, label: Variable) -> Variable:  # noqa: A002 - the documented name
    """The cross entropy of rows of probabilities, shape (n, k), and labels, int64 of shape (n, 1): shape (n, 1)."""
    return _append("cross_entropy", "cross_entropy", operators.cross_entropy, (input, label), (input.shape[0], 1))


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
    height, width = size
    layer = default_main_program().unique("embedding")
    table = _parameter(f"{layer}.w_0", (height, width), dtype, param_attr, _xavier)

    def rows_of_gradient(index: int, gradient: Any, inputs: list[Any]) -> SparseRows:
        return SparseRows(inputs[1].reshape(-1), gradient.reshape(-1, width), height)

    return _append(
        layer,
        "lookup",
        operators.lookup,
        (table, input),
        (*input.shape[:-1], width),
        gradient=rows_of_gradient if is_sparse else None,
    )


def concat(input: Sequence[Variable], axis: int = 0) -> Variable:  # noqa: A002 - the documented name
    """Variables joined along an axis."""
    lengths = [variable.shape[axis] for variable in input]
    total = None if None in lengths else sum(length for length in lengths if length is not None)
    shape = list(input[0].shape)
    shape[axis] = total
    return _append("concat", "concat", operators.concat(axis), tuple(input), tuple(shape))


def dropout(x: Variable, dropout_prob: float, seed: int | None = None) -> Variable:
    """Zero each element with a probability; in a program for testing, scale by the probability that it stays.

    Args:
        x: any float variable.
        dropout_prob: in [0, 1].
        seed: decides the masks, together with the number of the run; None takes one from the program's seed.
    """
    if not 0 <= dropout_prob <= 1:
        raise ProgramError(f"dropout: dropout_prob = {dropout_prob!r}, must be in [0, 1]")
    program = default_main_program()
    layer = program.unique("dropout")
    seed = _seed(program, layer) if seed is None else seed
    return _append(
        layer,
        "dropout",
        operators.dropout(dropout_prob, seed),
        (x, program.run_number),
        x.shape,
        at_test=operators.dropout_at_test(dropout_prob),
    )


def create_parameter(
    shape: Sequence[int], dtype: Any, name: str | None = None, attr: Attr = None, initializer: Initializer | None = None
) -> Parameter:
    """A parameter of its own, drawn from Xavier's uniform distribution unless ``initializer`` says otherwise."""
    name = name or default_main_program().unique("create_parameter")
    return _parameter(name, tuple(shape), dtype, attr, initializer or _xavier)


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = True, name: str | None = None
) -> Variable:
    """A variable that the startup program fills with a value, such as a learning rate."""
    name = name or default_main_program().unique("global_var")
    variable = default_main_program().variable(name, tuple(shape), dtype, persistable=persistable, stop_gradient=True)
    _started(variable, lambda: np.full(tuple(shape), value, dtype))
    return variable


def decay_step_counter() -> Variable:
    """The global step of the examples' schedules: an int64 scalar that is 0 in the first run, 1 in the next."""
    return default_main_program().run_number


def _append(
    layer: str,
    name: str,
    function: Callable[..., Any],
    inputs: tuple[Variable, ...],
    shape: Shape,
    **replacements: Any,
) -> Variable:
    """Append a forward operator with one output, named after the layer, in the dtype of the first input."""
    program = default_main_program()
    out = program.variable(program.unique(f"{layer}.tmp"), shape, inputs[0].dtype)
    program.append(Operator(name, function, inputs, (out,), **replacements))
    return out


def _parameter(default_name: str, shape: tuple[int, ...], dtype: Any, attr: Attr, default: Initializer) -> Parameter:
    attr = ParamAttr(name=attr) if isinstance(attr, str) else attr or ParamAttr()
    program = default_main_program()
    parameter = program.parameter(
        attr.name or default_name,
        shape,
        dtype,
        trainable=attr.trainable,
        regularizer=attr.regularizer,
        learning_rate=attr.learning_rate,
    )
    initializer = attr.initializer or default
    seed = _seed(program, parameter.name)
    _started(parameter, lambda: np.asarray(initializer(np.random.default_rng(seed), shape)).astype(dtype))
    return parameter


def _started(variable: Variable, first_value: Callable[[], Any]) -> None:
    """Append to the startup program what gives a variable its first value."""
    startup = default_startup_program()
    there = startup.variable(variable.name, variable.shape, variable.dtype, persistable=True)
    startup.append(Operator("initialize", first_value, (), (there,)))


def _seed(program: Program, name: str) -> int:
    return zlib.crc32(f"{program.seed} {name}".encode())


def _known(variable: Variable, shape: Shape) -> list[int]:
    if None in shape:
        raise ProgramError(f"fc: {variable.name} has shape {variable.shape}, must be known after the batch axis")
    return [length for length in shape if length is not None]


def _xavier(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    limit = math.sqrt(6 / max(1, sum(shape[:1]) + sum(shape[1:2])))
    return generator.uniform(-limit, limit, shape)


def _zeros(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return np.zeros(shape)
