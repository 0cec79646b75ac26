"""The names of ``paddle`` (2.x and later) that page 001's examples use: ``import optimetry.paddle as paddle``.

Thin over `optimetry.reference`. What is documented for both modes takes an eager tensor or a variable of a program;
docs/fluid.md says what is here, what is not, and why.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optimetry.paddle import nn, optimizer, regularizer, static
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import eager, layers
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.places import CPUPlace, CUDAPlace
from optimetry.reference.programs.program import Variable

__all__ = [
    "CPUPlace",
    "CUDAPlace",
    "arange",
    "disable_static",
    "enable_static",
    "in_dynamic_mode",
    "load",
    "mean",
    "nn",
    "optimizer",
    "randint",
    "regularizer",
    "save",
    "seed",
    "static",
    "to_tensor",
    "uniform",
]

_generator = [np.random.default_rng(0)]
_is_static = [False]


def seed(seed: int) -> None:
    """Begin the random numbers of `uniform` and `randint` anew."""
    _generator[0] = np.random.default_rng(seed)


def enable_static() -> None:
    """Say that programs are built from here on; both modes always work here, depending on the arguments."""
    _is_static[0] = True


def disable_static() -> None:
    """Say that tensors are computed at once from here on."""
    _is_static[0] = False


def in_dynamic_mode() -> bool:
    """Whether `enable_static` was not called."""
    return not _is_static[0]


def to_tensor(data: Any, dtype: Any = None) -> Tensor:
    """A tensor that holds data; Python floats become float32."""
    if isinstance(data, Tensor):
        return data if dtype is None else Tensor.of(data.value.astype(dtype))
    array = np.asarray(data, dtype)
    is_python = not isinstance(data, np.ndarray | np.generic) and dtype is None
    return Tensor.of(array.astype(np.float32) if is_python and array.dtype == np.float64 else array)


def uniform(
    shape: Sequence[int],
    dtype: Any = "float32",
    min: float = -1.0,  # noqa: A002 - the documented names
    max: float = 1.0,  # noqa: A002
    seed: int = 0,
) -> Tensor:
    """Uniform random numbers in [min, max); a seed that is not 0 decides them."""
    generator = np.random.default_rng(seed) if seed else _generator[0]
    return Tensor.of(generator.uniform(min, max, tuple(shape)).astype(dtype))


def randint(low: int = 0, high: int | None = None, shape: Sequence[int] = (1,), dtype: Any = "int64") -> Tensor:
    """Random integers in [low, high), or in [0, low) without ``high``."""
    return Tensor.of(_generator[0].integers(low, high, tuple(shape)).astype(dtype))


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers, as of NumPy."""
    start, end = (0, start) if end is None else (start, end)
    return Tensor.of(np.arange(start, end, step, dtype=dtype))


def mean(x: Any) -> Any:
    """The mean of all elements, 0-d."""
    return layers.mean(x) if isinstance(x, Variable) else eager.mean(x)


def save(obj: Any, path: str) -> None:
    """Save what ``state_dict()`` returned."""
    Path(path).write_bytes(pickle.dumps(obj))


def load(path: str) -> Any:
    """What `save` has saved there. The file is a pickle: load none that you do not trust.

    Raises:
        ArgumentError: there is no such file.
    """
    if not Path(path).is_file():
        raise ArgumentError(f"load: path = {path!r}, must be a file that save() wrote")
    return pickle.loads(Path(path).read_bytes())
