"""Inputs for the tests of this folder: every rule with the hyperparameters that change its kernel, and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.optimizer import Accelerated
from optimetry.reference.precision import working
from optimetry.reference.rules import rule_named
from optimetry.reference.training import Training
from tests.accelerated.emulated import needs_compiler

ENGINES = ("numba", "numpy", pytest.param("cuda", marks=needs_compiler))
"""What tests of engines are given; with the fixture ``emulated_cuda`` the last runs on the processor."""

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("sgd", {}),
    ("momentum", {"momentum": 0.9}),
    ("momentum", {"momentum": 0.9, "use_nesterov": True}),
    ("lars_momentum", {"momentum": 0.9, "lars_coeff": 0.1}),
    ("adagrad", {"initial_accumulator_value": 0.1}),
    ("decayed_adagrad", {}),
    ("adadelta", {"epsilon": 0.01}),
    ("adam", {"epsilon": 0.01}),
    ("adamax", {"epsilon": 0.01}),
    ("rmsprop", {"momentum": 0.9}),
    ("rmsprop", {"momentum": 0.5, "centered": True}),
    ("ftrl", {"l1": 0.01, "l2": 0.02}),
    ("ftrl", {"l1": 0.01, "lr_power": -0.3}),
    ("lamb", {}),
    ("asgd", {"batch_num": 3, "weight_decay": 0.01}),
]
"""Rules with hyperparameters: each kernel function at least once."""

IDS = [f"{name}-{'-'.join(map(str, hyper.values()))}" for name, hyper in VARIANTS]

SHAPES = ((), (0,), (1,), (3, 5), (17,), (8192,), (20_000,))
"""0-d, empty, odd tails, exactly one unit of work, and more than one."""


def arrays(dtype: str, seed: int, shapes: tuple[tuple[int, ...], ...] = SHAPES) -> list[Array]:
    """Arrays of mixed magnitudes, some elements zero."""
    rng = np.random.default_rng(seed)
    made = []
    for shape in shapes:
        values = rng.standard_normal(shape) * 10.0 ** rng.uniform(-2, 1, shape) * (rng.random(shape) < 0.9)
        made.append(np.asarray(values).astype(DTYPES[dtype].dtype))
    return made


def copies(given: list[Array]) -> list[Array]:
    """Fresh copies."""
    return [array.copy() for array in given]


def run(
    name: str, hyper: dict[str, Any], dtype: str, engine: str = "numba", steps: int = 4, **options: Any
) -> Accelerated:
    """A few steps of an accelerated optimizer; one gradient is missing once, the learning rate changes."""
    optimizer = Accelerated(name, arrays(dtype, 0), hyper, engine=engine, **options)
    for step in range(steps):
        optimizer.step(gradients(dtype, step), rate(step))
    return optimizer


def documented(name: str, hyper: dict[str, Any], dtype: str, steps: int = 4) -> Training:
    """The same steps of the reference, in the parameters' own precision."""
    training = Training(rule_named(name).of(hyper), [working(array) for array in arrays(dtype, 0)])
    for step in range(steps):
        grads = gradients(dtype, step)
        training.step([None if grad is None else working(grad) for grad in grads], rate(step))
    return training


def gradients(dtype: str, step: int) -> list[Array | None]:
    """The gradients of a step."""
    made: list[Array | None] = [*arrays(dtype, step + 1)]
    if step == 1:
        made[4] = None
    return made


def rate(step: int) -> float:
    """The learning rate of a step."""
    return 0.1 if step < 2 else 0.03


def bits(given: list[Array]) -> list[bytes]:
    """What is in memory."""
    return [np.asarray(array).tobytes() for array in given]


def state_bits(optimizer: Accelerated) -> dict[str, list[bytes]]:
    """What is in memory of everything that a step may change."""
    return {slot: bits(held) for slot, held in optimizer.state_dict().items()} | {"param": bits(optimizer.parameters)}
