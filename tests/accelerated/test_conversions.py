"""Every float16 and bfloat16, and every float32 that is hard to round, against NumPy and ml_dtypes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numba import njit

from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.source.conversions import BIT_CONVERSIONS, INSTRUCTIONS

HALVES = {name: dtypes.dtype for name, dtypes in DTYPES.items() if dtypes.narrow}

CONVERSIONS = [
    pytest.param(name, pair, id=f"{name}-{how}")
    for how, pairs in (("bits", BIT_CONVERSIONS), ("instructions", INSTRUCTIONS))
    for name, pair in pairs.items()
]


def sweep_of(convert: Any) -> Any:
    @njit(error_model="numpy")
    def sweep(values: Any, result: Any) -> None:
        for i in range(values.size):
            result[i] = convert(values[i])

    return sweep


def swept(convert: Any, values: Any, result: Any) -> Any:
    sweep_of(convert)(values, result)
    return result


@pytest.mark.parametrize(("name", "conversions"), CONVERSIONS)
def test_widening_is_exact(name: str, conversions: Any) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    converted = swept(conversions[0], halves, np.empty(halves.size, np.float32))
    must = halves.view(HALVES[name]).astype(np.float32)
    number = ~np.isnan(must)
    assert (np.isnan(converted) == ~number).all()
    assert converted[number].tobytes() == must[number].tobytes()


@pytest.mark.parametrize(("name", "conversions"), CONVERSIONS)
def test_narrowing_rounds_to_nearest_even(name: str, conversions: Any) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(HALVES[name]).astype(np.float32)
    halves = np.sort(halves[np.isfinite(halves)])
    with np.errstate(all="ignore"):
        between = (halves[1:] + halves[:-1]) / 2
        overflow = np.float32([65519.996, 65520.0, 65535.9, 3.3895e38, 3.396e38, np.inf, np.nan, 1e-45, 3e-41])
        hard = [halves, between, np.nextafter(between, np.float32(np.inf)), np.nextafter(between, np.float32(-np.inf))]
        random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 18, dtype=np.uint32).view(np.float32)
        values = np.concatenate([*hard, overflow, -overflow, random])
        must = values.astype(HALVES[name])
    converted = swept(conversions[1], values, np.empty(values.size, np.uint16)).view(HALVES[name])
    number = ~np.isnan(values)
    assert (np.isnan(converted) == ~number).all()
    assert converted[number].tobytes() == must[number].tobytes()


def test_every_narrow_dtype_is_converted_as_bits() -> None:
    assert set(BIT_CONVERSIONS) == set(HALVES)


@pytest.mark.parametrize(("name", "conversions"), CONVERSIONS)
@pytest.mark.parametrize("direction", ["widen", "narrow"])
def test_a_loop_is_vectorised_in_lanes_of_32_bits(name: str, conversions: Any, direction: str) -> None:
    """A sum of two ``uint32`` that is not converted back has 64 bits, and a vector holds half as many."""
    halves, numbers = np.zeros(64, np.uint16), np.zeros(64, np.float32)
    values, result = (halves, numbers) if direction == "widen" else (numbers, halves)
    sweep = sweep_of(conversions[direction == "narrow"])
    sweep(values, result)
    (llvm,) = sweep.inspect_llvm().values()
    assert re.search(r" = (shl|fpext|lshr|fptrunc) .*<\d+ x (i32|half|float)>", llvm)
    assert not re.search(r"<\d+ x i64>", llvm)
