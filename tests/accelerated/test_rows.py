from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.rows import Rows
from optimetry.reference.classes import SGD, Adagrad, Adam, Momentum
from optimetry.reference.errors import UsageError
from optimetry.reference.programs.eager import EagerParameter
from optimetry.reference.sparse import SparseRows
from tests.accelerated.cases import ENGINES, state_bits, variants_where

pytestmark = pytest.mark.usefixtures("emulated_cuda")

BY_ROWS = [*variants_where(lambda kernel: kernel.by_rows), pytest.param("adam", {}, id="adam-lazy")]
DENSE = variants_where(lambda kernel: not kernel.by_rows)


def by_rows(name: str, parameters: list[Any], hyper: dict[str, Any], **options: Any) -> Accelerated:
    """An optimizer that updates the rows that are given alone: adam in lazy mode."""
    return Accelerated(name, parameters, hyper, lazy_mode=name == "adam", **options)


def table(dtype: str, seed: int, rows: int = 50) -> Any:
    return np.random.default_rng(seed).standard_normal((rows, 3, 2)).astype(DTYPES[dtype].dtype)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "hyper"), BY_ROWS)
def test_rows_are_updated_as_if_alone_and_others_keep_every_bit(
    name: str, hyper: dict[str, Any], dtype: str, engine: str
) -> None:
    ids = np.array([7, 0, 49, 13])
    others = np.setdiff1d(np.arange(50), ids)
    parameter = table(dtype, 0)
    lazy = by_rows(name, [parameter.copy()], hyper, engine=engine, multi_precision=True)
    alone = by_rows(name, [parameter[ids]], hyper, engine=engine, multi_precision=True)
    before = lazy.state_dict()
    for step in range(3):
        values = table(dtype, step + 1)[:4]
        lazy.step([Rows(ids, values)], 0.1)
        alone.step([values], 0.1)
    assert lazy.parameters[0][ids].tobytes() == alone.parameters[0].tobytes()
    assert lazy.parameters[0][others].tobytes() == parameter[others].tobytes()
    state, small = lazy.state_dict(), alone.state_dict()
    for slot in lazy.slots:
        assert state[slot][0][ids].tobytes() == small[slot][0].tobytes()
        assert state[slot][0][others].tobytes() == before[slot][0][others].tobytes()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "hyper"), BY_ROWS)
def test_duplicates_are_summed_first(name: str, hyper: dict[str, Any], dtype: str, engine: str) -> None:
    ids, once = np.array([5, 2, 5, 5, 9]), np.array([2, 5, 9])
    values = table(dtype, 1)[:5]
    wide = np.float32 if dtype in ("float16", "bfloat16") else values.dtype
    total = ((values[0].astype(wide) + values[2].astype(wide)) + values[3].astype(wide)).astype(values.dtype)
    both = [by_rows(name, [table(dtype, 0)], hyper, engine=engine) for _ in range(2)]
    both[0].step([Rows(ids, values)], 0.1)
    both[1].step([Rows(once, np.stack([values[1], total, values[4]]))], 0.1)
    assert state_bits(both[0]) == state_bits(both[1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper"), DENSE)
def test_rules_that_move_a_row_without_a_gradient_take_zeros(name: str, hyper: dict[str, Any], engine: str) -> None:
    ids, values = np.array([3, 1, 3]), table("float32", 1)[:3]
    dense = np.zeros((50, 3, 2), np.float32)
    np.add.at(dense, ids, values)
    both = [Accelerated(name, [table("float32", 0)], hyper, engine=engine) for _ in range(2)]
    for _ in range(2):
        both[0].step([Rows(ids, values)], 0.1)
        both[1].step([dense], 0.1)
    assert state_bits(both[0]) == state_bits(both[1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "hyper", "lazy", "documented"),
    [
        ("sgd", {}, False, SGD),
        ("adagrad", {}, False, Adagrad),
        ("momentum", {"momentum": 0.9}, False, partial(Momentum, momentum=0.9)),
        ("adam", {}, False, Adam),
        ("adam", {}, True, partial(Adam, lazy_mode=True)),
    ],
)
def test_rows_have_the_bits_of_the_documented_class(
    name: str, hyper: dict[str, Any], lazy: bool, documented: Callable[..., Any], engine: str
) -> None:
    parameter = EagerParameter("table", table("float32", 0))
    must = documented(0.1, parameters=[parameter])
    ours = Accelerated(name, [table("float32", 0)], hyper, lazy_mode=lazy, engine=engine)
    for step in range(4):  # of each, some rows have no gradient after they had one
        ids, values = np.array([3, step, 49, step + 7]), table("float32", step + 1)[:4]
        parameter.grad = SparseRows(ids, values, 50)
        must.step()
        ours.step([Rows(ids, values)], 0.1)
    assert ours.parameters[0].tobytes() == parameter.value.tobytes()


@pytest.mark.parametrize("name", ["sgd", "papers.adam"])
def test_other_rules_than_adam_have_no_lazy_mode(name: str) -> None:
    with pytest.raises(UsageError, match=rf"^{name}: lazy_mode = True, must be False: only adam has a lazy mode$"):
        Accelerated(name, [np.ones((2, 2))], lazy_mode=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_time_is_the_parameters_not_the_rows(engine: str) -> None:
    """RULES.md, adam, lazy_mode: t is global."""
    optimizer = by_rows("adam", [table("float64", 0), table("float64", 1)], {}, engine=engine)
    nothing = Rows(np.zeros(0, np.int64), np.zeros((0, 3, 2)))
    optimizer.step([nothing, None])
    optimizer.step([Rows(np.array([1]), table("float64", 2)[:1]), table("float64", 3)])
    assert [int(count) for count in optimizer.state_dict()["step"]] == [2, 1]
    plain = Accelerated("adam", [table("float64", 0)], engine=engine)
    state = plain.state_dict()
    state["step"] = [np.array(1)]
    plain.load_state_dict(state)
    dense = np.zeros((50, 3, 2))
    dense[1] = table("float64", 2)[0]
    plain.step([dense])
    assert plain.parameters[0][1].tobytes() == optimizer.parameters[0][1].tobytes()
