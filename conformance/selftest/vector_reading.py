"""Reads test vectors as a reader does that has nothing of optimetry: from their JSON alone.

The rules of `at`, `filled` and `_near` stand in ``examples/vectors/reader.py`` again, which imports nothing from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS


def case_of(document: Mapping[str, Any], vector: Mapping[str, Any]) -> Case:
    """Return the run of a vector in full, with what begins again."""
    steps, dtype = range(vector["checked"][-1]), FORMATS[document["dtype"]].dtype
    tensors = [at(vector["parameters"], i) for i in range(vector["tensors"])]
    shapes = [param["shape"] for param in tensors]
    rows = [
        tuple(None if (bits := at(row, i)) is None else filled(bits, dtype, shape) for i, shape in enumerate(shapes))
        for row in vector["grads"]
    ]
    return Case(
        optimizer=document["optimizer"],
        dtype=document["dtype"],
        hyper={name: float.fromhex(x) if isinstance(x, str) else x for name, x in vector["hyper"].items()},
        learning_rates=tuple(float.fromhex(at(vector["learning_rates"], step)) for step in steps),
        parameters=tuple(filled(param["bits"], dtype, param["shape"]) for param in tensors),
        grads=tuple(at(rows, step) for step in steps),
    )


def at(items: Sequence[Any], index: int) -> Any:
    """Return an item of a list that begins again behind its end."""
    return items[index % len(items)]


def filled(bits: str, dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """Return an array of little-endian elements, which begin again until the shape is full."""
    return np.resize(np.frombuffer(bytes.fromhex(bits), dtype.newbyteorder("<")).astype(dtype), shape)


def accepts(vector: Mapping[str, Any], step: int, arrays: Sequence[Array]) -> bool:
    """Whether a vector accepts the parameters after a step, counted from 1; what is not checked, it does."""
    if step not in vector["checked"]:
        return True
    row = vector["checked"].index(step)
    values, errors = vector["expected"][row], vector["allowed"][row]
    return all(_near(array, at(values, i), at(errors, i)) for i, array in enumerate(arrays))


def _near(array: Array, bits: str, errors: str) -> bool:
    with np.errstate(all="ignore"):
        number, value = array.astype(np.float64), filled(bits, array.dtype, array.shape).astype(np.float64)
        allowed = np.resize([float.fromhex(error) for error in errors.split()], array.shape)
        near = (np.abs(number - value) <= allowed) | np.isinf(allowed)
        return bool(np.all(np.where(np.isnan(allowed), ~np.isfinite(number), near)))
