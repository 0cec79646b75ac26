"""Every float16 and bfloat16, and every float32 that is hard to round, against NumPy and ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.source.conversions import CONVERSIONS

HALVES = {name: dtypes.dtype for name, dtypes in DTYPES.items() if dtypes.narrow}


def swept(convert: Any, given: Any, result: Any) -> Any:
    @njit(error_model="numpy")
    def sweep(given: Any, result: Any) -> None:
        for i in range(given.size):
            result[i] = convert(given[i])

    sweep(given, result)
    return result


@pytest.mark.parametrize("name", HALVES)
def test_widening_is_exact(name: str) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    got = swept(CONVERSIONS[name][0], halves, np.empty(halves.size, np.float32))
    must = halves.view(HALVES[name]).astype(np.float32)
    number = ~np.isnan(must)
    assert (np.isnan(got) == ~number).all()
    assert got[number].tobytes() == must[number].tobytes()


@pytest.mark.parametrize("name", HALVES)
def test_narrowing_rounds_to_nearest_even(name: str) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(HALVES[name]).astype(np.float32)
    halves = np.sort(halves[np.isfinite(halves)])
    with np.errstate(all="ignore"):
        between = (halves[1:] + halves[:-1]) / 2
        overflow = np.float32([65519.996, 65520.0, 65535.9, 3.3895e38, 3.396e38, np.inf, np.nan, 1e-45, 3e-41])
        hard = [halves, between, np.nextafter(between, np.float32(np.inf)), np.nextafter(between, np.float32(-np.inf))]
        random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 18, dtype=np.uint32).view(np.float32)
        given = np.concatenate([*hard, overflow, -overflow, random])
        must = given.astype(HALVES[name])
    got = swept(CONVERSIONS[name][1], given, np.empty(given.size, np.uint16)).view(HALVES[name])
    number = ~np.isnan(given)
    assert (np.isnan(got) == ~number).all()
    assert got[number].tobytes() == must[number].tobytes()
