"""Numbers of float64 become quad numbers by their bits, and are what NumPy converts them to."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST
from optimetry.conformance.numerics.widening import MANY, widened

ENDS = [0.0, SMALLEST, 3 * SMALLEST, np.nextafter(2.0**-1022, 0), 2.0**-1022, 1.0, np.pi, np.finfo(BOUND).max, np.inf]
"""Where exponents begin and end: zero, subnormals, the first and the last normal number, and infinity."""


def many(array: Any) -> Any:
    """Repeat an array until it has as many numbers as are widened by their bits."""
    return np.resize(array, MANY)


@settings(deadline=None, derandomize=True, database=None)
@given(arrays(BOUND, st.integers(1, 40), elements=st.floats(allow_nan=False)))
def test_it_has_the_bits_that_numpy_converts_to(few: Any) -> None:
    for array in (few, many(few)):
        assert widened(array, QUAD).tobytes() == array.astype(QUAD).tobytes()


@pytest.mark.parametrize("number", ENDS)
def test_the_ends_of_each_range_have_the_bits_that_numpy_converts_to(number: float) -> None:
    array = many([number, -number, 1.0])
    assert widened(array, QUAD).tobytes() == array.astype(QUAD).tobytes()


def test_what_is_no_number_stays_none() -> None:
    widest = widened(many([np.nan, 2.0, -np.nan]), QUAD)
    assert np.array_equal(np.isnan(widest), many([True, False, True]))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (3, 4), (MANY, 3), (2, 3, MANY)])
def test_any_shape_and_any_strides(shape: tuple[int, ...]) -> None:
    """And what is made is a copy."""
    array = np.asarray(np.random.default_rng(0).normal(size=shape))
    for view in (array, array.T, array[..., ::-1] if shape else array):
        wide = widened(view, QUAD)
        assert wide.shape == view.shape
        assert wide.dtype == QUAD
        assert wide.tobytes() == view.astype(QUAD).tobytes()
        assert not np.shares_memory(wide, array)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_narrower_formats_are_converted_as_numpy_does(dtype: Any) -> None:
    array = many([1.5, -0.0, 2.0**-14, np.inf]).astype(dtype)
    wide = widened(array, BOUND)
    assert wide.dtype == BOUND
    assert wide.tobytes() == array.astype(BOUND).tobytes()
    assert not np.shares_memory(wide, array)
    assert widened(2.0, QUAD).dtype == QUAD


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_many_numbers_of_a_narrower_format_become_quad_numbers_as_numpy_converts_them(dtype: Any) -> None:
    array = many([1.5, -0.0, 2.0**-14, np.inf]).astype(dtype)
    assert widened(array, QUAD).tobytes() == array.astype(QUAD).tobytes()
