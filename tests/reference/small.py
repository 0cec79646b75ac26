"""A small network, and single parameters, for tests of the optimizers' methods."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from optimetry.reference.programs import Executor, Program, Variable, layers, naming, program_guard
from optimetry.reference.programs.eager import EagerParameter
from optimetry.reference.programs.program import default_startup_program

FEED = {"x": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)}


@contextmanager
def fresh() -> Iterator[tuple[Program, Program]]:
    """New default programs, the main and the startup one, and names from the beginning."""
    main, startup = Program(), Program()
    with naming.guard(), program_guard(main, startup):
        yield main, startup


def network() -> Variable:
    """The loss of two layers, the second without a bias; their parameters are a.w_0, a.b_0 and b.w_0."""
    x = layers.data("x", [None, 3])
    hidden = layers.fc(x, 4, act="tanh", name="a")
    return layers.mean(layers.fc(hidden, 2, bias_attr=False, name="b"))


def started() -> Executor:
    """An executor that has run the default startup program."""
    executor = Executor()
    executor.run(default_startup_program())
    return executor


def parameter(
    name: str = "w", value: Any = (3.0, -4.0), grad: Any = (0.5, 2.0), dtype: Any = np.float32, **attributes: Any
) -> EagerParameter:
    """An eager parameter with a gradient."""
    made = EagerParameter(name, np.array(value, dtype), **attributes)
    made.grad = None if grad is None else np.array(grad, dtype)
    return made


def snapshot(optimizer: Any, parameters: list[EagerParameter]) -> bytes:
    """Everything that a step can change, as bytes."""
    grads = [None if p.grad is None else np.array(p.grad) for p in parameters]
    return pickle.dumps(([np.array(p.value) for p in parameters], grads, optimizer.state_dict(), optimizer.get_lr()))


def housing(batches: int = 3, batch_size: int = 2) -> Iterator[list[tuple[Any, Any]]]:
    """Stands in for ``paddle.batch(paddle.dataset.uci_housing.train())``: rows of 13 features and a price."""
    rng = np.random.default_rng(7)
    for _ in range(batches):
        yield [(rng.standard_normal(13), rng.standard_normal(1)) for _ in range(batch_size)]


ONES = np.ones((1, 3), np.float32)


def moved(executor: Executor, name: str, feed: Any = FEED, program: Program | None = None) -> Any:
    """By how much a run moves the first bias, a float32 number each."""
    before = np.array(executor.scope.get(name))
    executor.run(program, feed=feed)
    return executor.scope.get(name) - before


def small_program() -> tuple[Program, Program, Variable]:
    """A program of one layer, its startup program and its loss."""
    main, startup = Program(), Program()
    with program_guard(main, startup):
        loss = layers.mean(layers.fc(layers.data("x", [None, 3]), 2))
        return main, startup, loss
