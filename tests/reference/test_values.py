"""What stands for an array, in a program and at once: its arithmetic, the gradients of layers, and saved values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry import fluid, paddle
from optimetry.reference.programs import Executor, layers
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.eager_layers import Embedding, Linear
from optimetry.reference.sparse import SparseRows
from tests.reference.small import fresh

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv)
VALUES = np.array([0.5, 2.0, 4.0], np.float32)


def at_once(of: Callable[[Any], Any]) -> Any:
    return of(Tensor.of(VALUES)).numpy()


def in_a_program(of: Callable[[Any], Any]) -> Any:
    with fresh():
        result = of(layers.data("x", [3]))
        (value,) = Executor().run(feed={"x": VALUES}, fetch_list=[result])
    return value


@pytest.mark.parametrize("computed", [at_once, in_a_program])
@pytest.mark.parametrize("function", BINARY)
def test_arithmetic_with_a_number_on_either_side_is_that_of_its_array(
    function: Callable[[Any, Any], Any], computed: Callable[[Callable[[Any], Any]], Any]
) -> None:
    for expression, must in (
        (lambda x: function(x, 4.0), function(VALUES, np.float32(4))),
        (lambda x: function(4.0, x), function(np.float32(4), VALUES)),
        (lambda x: function(x, x), function(VALUES, VALUES)),
    ):
        value = computed(expression)
        assert (value.dtype, value.tolist()) == (np.float32, must.tolist())


@pytest.mark.parametrize("computed", [at_once, in_a_program])
def test_powers_and_signs_are_those_of_its_array(computed: Callable[[Callable[[Any], Any]], Any]) -> None:
    assert computed(lambda x: x**2.0).tolist() == [0.25, 4.0, 16.0]
    assert computed(lambda x: 2.0**x).tolist() == [np.float32(np.sqrt(2)), 4.0, 16.0]
    assert computed(lambda x: -x).tolist() == [-0.5, -2.0, -4.0]


@pytest.mark.parametrize("arguments", [(0.5, 3), (0, 3, 0.5), (4,), (1, 7, 2, "float32")])
def test_evenly_spaced_numbers_are_those_of_numpy(arguments: Any) -> None:
    np.testing.assert_array_equal(paddle.arange(*arguments).numpy(), np.arange(*arguments), strict=True)


def test_the_gradient_of_a_table_is_dense_unless_it_is_to_be_sparse() -> None:
    dense, sparse = Embedding(3, 2), Embedding(3, 2, is_sparse=True)
    for table in (dense, sparse):
        table(np.array([2, 2])).backward()
    assert isinstance(sparse.weight.grad, SparseRows)
    assert isinstance(dense.weight.grad, np.ndarray)
    assert dense.weight.grad.tolist() == sparse.weight.gradient().tolist() == [[0, 0], [0, 0], [2, 2]]


def test_what_is_saved_of_a_layer_and_of_an_optimizer_is_loaded_apart(tmp_path: Path) -> None:
    layer, path = Linear(2, 1), str(tmp_path / "model")
    fluid.save_dygraph(layer.state_dict(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.pdparams"]
    parameters, state = fluid.load_dygraph(path)
    assert state is None
    assert parameters is not None
    assert {name: value.tolist() for name, value in parameters.items()} == {
        parameter.name: parameter.value.tolist() for parameter in layer.parameters()
    }
    fluid.save_dygraph({"step": 3}, path)
    assert fluid.load_dygraph(path)[1] == {"step": 3}
    assert fluid.load_dygraph(path)[0] is not None
