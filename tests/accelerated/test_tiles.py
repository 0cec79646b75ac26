"""Matrices of several tiles, whose sums of rows and columns are of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.accelerated import tiles
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.engines import cuda_tiles
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.source import loop_text, tile_text
from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.session import flat
from optimetry.reference.rule import rule_named
from tests.accelerated.cases import ENGINES, arrays, bits, state_bits

pytestmark = pytest.mark.usefixtures("emulated_cuda")

SHAPES = ((5, 7), (2, 3, 4), (9, 2), (1, 9), (9, 1), (3, 0), (11,), ())
"""Several tiles over and beside another, several matrices, one row, one column, no elements, and no matrices."""

HYPER = {"eps1": 0.125, "eps2": 0.5, "weight_decay": 0.5}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "ROWS", 2)
    for module in (tiles, cuda_tiles):
        monkeypatch.setattr(module, "COLUMNS", 3)


def stepped(engine: str, shapes: tuple[tuple[int, ...], ...] = SHAPES, **options: Any) -> tuple[Accelerated, Array]:
    """An optimizer after three steps, one gradient missing once, and the parameters after each."""
    optimizer = Accelerated("torch.adafactor", arrays("float32", 0, shapes), HYPER, engine=engine, **options)
    after = []
    for step in range(3):
        optimizer.step(gradients(step, shapes), 0.1)
        after.append(flat(optimizer.parameters))
    return optimizer, np.stack(after)


def gradients(step: int, shapes: tuple[tuple[int, ...], ...]) -> list[Array | None]:
    made: list[Array | None] = [*arrays("float32", step + 1, shapes)]
    if step == 1:
        made[0] = None
    return made


def case_of(shapes: tuple[tuple[int, ...], ...]) -> Case:
    """The steps of `stepped` as a case."""
    rule = rule_named("torch.adafactor").of(HYPER)
    return Case(
        optimizer=rule.name,
        dtype="float32",
        hyper=rule.hyper(),
        learning_rates=(0.1,) * 3,
        parameters=tuple(arrays("float32", 0, shapes)),
        grads=tuple(tuple(gradients(step, shapes)) for step in range(3)),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_are_of_all_tiles(engine: str) -> None:
    shapes = tuple(shape for shape in SHAPES if 0 not in shape)
    case = case_of(shapes)
    assert compare(stepped(engine, shapes)[1], expected(case), case.form).conforms


@pytest.mark.parametrize("engine", ENGINES)
def test_slots_have_the_documented_shapes(engine: str) -> None:
    rule = rule_named("torch.adafactor").of(HYPER)
    state = stepped(engine)[0].state_dict()
    for i, shape in enumerate(SHAPES):
        documented = rule.initial_state(np.zeros(shape, np.float32))
        assert {slot: state[slot][i].shape for slot in rule.slots} == {
            slot: np.shape(documented[slot]) for slot in rule.slots
        }


def test_a_loaded_state_continues_to_the_same_bits() -> None:
    optimizer, _ = stepped("numba")
    other = Accelerated("torch.adafactor", [array.copy() for array in optimizer.parameters], HYPER, engine="numba")
    other.load_state_dict(optimizer.state_dict())
    for run in (optimizer, other):
        run.step(gradients(3, SHAPES), 0.1)
    assert bits(optimizer.parameters) == bits(other.parameters)


def test_threads_change_no_bit_of_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimetry.accelerated.threads.ALONE", 1)
    monkeypatch.setattr("optimetry.accelerated.engines.shares.SHARE", 1)
    assert state_bits(stepped("numba", threads=1)[0]) == state_bits(stepped("numba", threads=3)[0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rows_divided_into_runs_change_no_bit(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of two whole runs and a shorter one, in tiles beside each other, and a vector, which is one row."""
    columns = 2 * tile_text.RUN + 9
    monkeypatch.setattr(tiles, "COLUMNS", columns)
    shapes, states = ((5, columns + 7), (3 * tile_text.RUN,)), list[Any]()
    for far in (loop_text.FAR, 0):
        monkeypatch.setattr(loop_text, "FAR", far)
        monkeypatch.setattr(loop_text, "_LOOPS", {})
        optimizer = Accelerated("torch.adafactor", arrays(dtype, 0, shapes), HYPER, engine="numba")
        for step in (1, 2):
            optimizer.step(arrays(dtype, step, shapes), 0.1)
        states.append(state_bits(optimizer))
    assert states[0] == states[1]
