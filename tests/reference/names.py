"""The names under which the pages' examples reach what is here, so that the examples stand as they are printed.

``fluid`` is that of pages 000, 003 and 004, ``paddle`` that of page 001.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import optimetry.reference as optimizer
from optimetry.reference import programs
from optimetry.reference.programs import eager, layers


class DataFeeder:
    """Turns rows of a reader into arrays for ``feed``."""

    def __init__(self, place: object, feed_list: list[programs.Variable]) -> None:
        self.feed_list = feed_list

    def feed(self, rows: list[tuple[Any, ...]]) -> dict[str, np.ndarray[Any, Any]]:
        columns = zip(*rows, strict=True)
        return {v.name: np.array(column, v.dtype) for v, column in zip(self.feed_list, columns, strict=True)}


def housing(batches: int = 3, batch_size: int = 2) -> Iterator[list[tuple[Any, Any]]]:
    """Stands in for ``paddle.batch(paddle.dataset.uci_housing.train())``: rows of 13 features and a price."""
    rng = np.random.default_rng(7)
    for _ in range(batches):
        yield [(rng.standard_normal(13), rng.standard_normal(1)) for _ in range(batch_size)]


@contextmanager
def guard() -> Iterator[None]:
    """Dynamic graphs need no preparation here."""
    yield


def save(state: Any, path: str) -> None:
    Path(path).write_bytes(pickle.dumps(state))


def load(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())


def uniform(shape: list[int], min: float, max: float, dtype: str = "float32") -> Any:  # noqa: A002 - Paddle's names
    return np.random.default_rng(3).uniform(min, max, shape).astype(dtype)


def tensor(given: Any) -> eager.Tensor:
    return eager.Tensor.of(np.asarray(given))


fluid = SimpleNamespace(
    CPUPlace=lambda: "cpu",
    CUDAPlace=lambda number: f"cuda:{number}",
    DataFeeder=DataFeeder,
    Executor=programs.Executor,
    Linear=eager.Linear,
    ParamAttr=layers.ParamAttr,
    Program=programs.Program,
    data=layers.data,
    default_main_program=programs.default_main_program,
    default_startup_program=programs.default_startup_program,
    dygraph=SimpleNamespace(
        Embedding=lambda size: eager.Embedding(*size),
        PiecewiseDecay=optimizer.PiecewiseDecay,
        guard=guard,
        nn=SimpleNamespace(Linear=eager.Linear),
        to_variable=tensor,
    ),
    layers=SimpleNamespace(**vars(layers) | {"data": partial(layers.data, append_batch_size=True)}),
    optimizer=optimizer,
    program_guard=programs.program_guard,
    regularizer=optimizer,
)

paddle = SimpleNamespace(
    arange=lambda stop, dtype: np.arange(stop, dtype=dtype),
    load=load,
    mean=eager.mean,
    nn=SimpleNamespace(Embedding=eager.Embedding, Linear=eager.Linear),
    optimizer=SimpleNamespace(ASGD=optimizer.ASGD, Adam=optimizer.Adam, lr=optimizer),
    randint=lambda low, high, shape: np.random.default_rng(low + high).integers(low, high, shape),
    save=save,
    static=SimpleNamespace(
        Executor=programs.Executor,
        Program=programs.Program,
        data=layers.data,
        nn=SimpleNamespace(fc=layers.fc),
        program_guard=programs.program_guard,
    ),
    to_tensor=tensor,
    uniform=uniform,
)
