"""Absolute values of quad numbers are rounded to float64, those of many by their bits."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.numerics.formats import BOUND, QUAD, SMALLEST
from optimetry.conformance.numerics.magnitudes import FEW, magnitude_of


def quads(shape: tuple[int, ...] = (20_000,)) -> Any:
    """Make quotients that no double holds, of all magnitudes that a double can have."""
    rng = np.random.default_rng(0)
    numbers = np.ldexp(rng.uniform(1, 2, shape) * rng.choice([-1, 1], shape), rng.integers(-1020, 1023, shape))
    return numbers.astype(QUAD) / np.asarray(3.0).astype(QUAD)


def converted(value: Any) -> Any:
    return np.abs(value).astype(BOUND)


@pytest.mark.parametrize("numbers", [2, FEW, FEW + 1, 20_000])
def test_it_is_the_nearest_double_however_many_there_are(numbers: int) -> None:
    """Read from their bits, or rounded by NumPy."""
    value = quads()[:numbers]
    magnitude = magnitude_of(value)
    assert magnitude.dtype == BOUND
    off = np.abs(np.abs(value) - magnitude)
    beside = (np.abs(np.abs(value) - np.nextafter(magnitude, to)) for to in (0.0, np.inf))
    assert all(np.all(off <= other) for other in beside)
    assert 2.0**-55 < (off / np.abs(value)).astype(BOUND).max() <= 2.0**-53


def test_of_two_that_are_as_near_it_is_the_even_one_and_a_little_more_decides() -> None:
    """Whether one bit or many are carried, into the exponent too; alike for a few numbers and many."""
    doubles = np.array([1.0, np.nextafter(1.0, 2), np.nextafter(2.0, 0), np.nextafter(1.0, 0), 1.5, 2.0**-1022])
    half = np.spacing(doubles).astype(QUAD) * np.asarray(0.5).astype(QUAD)
    little = half * np.asarray(2.0**-50).astype(QUAD)
    value = np.concatenate([doubles + half + part for part in (-little, little - little, little)])
    above = np.nextafter(doubles, np.inf)
    even = np.where(doubles.view(np.uint64) % 2 == 0, doubles, above)
    nearest = np.concatenate([doubles, even, above])
    assert magnitude_of(value).tobytes() == nearest.tobytes()
    assert magnitude_of(np.tile(value, FEW)).tobytes() == np.tile(nearest, FEW).tobytes()


@pytest.mark.parametrize("factor", [1.0, -1.0])
@pytest.mark.parametrize(
    "number",
    [0.0, SMALLEST, 3 * SMALLEST, np.nextafter(2.0**-1022, 0), 2.0**-1022, 1.5, np.finfo(BOUND).max, np.inf, np.nan],
)
def test_doubles_are_what_they_are(number: float, factor: float) -> None:
    """The smallest and the largest, zeros, and what is no number."""
    for times in (1, FEW):
        magnitude = magnitude_of(np.array([factor * number, 1.0] * times).astype(QUAD))
        assert magnitude.tobytes() == np.abs([number, 1.0] * times).tobytes()


def test_beyond_the_doubles_it_is_infinite_and_below_them_not_zero() -> None:
    """A bound may be too large, and zero says that a number is exact."""
    one = np.asarray(1.0).astype(QUAD)
    largest, tiny = (np.array([x], BOUND).astype(QUAD) for x in (np.finfo(BOUND).max, SMALLEST))
    with np.errstate(all="ignore"):
        assert magnitude_of(largest + largest) == magnitude_of(largest * largest) == np.inf
        assert magnitude_of(largest + largest * 2.0**-53) == np.inf, "half a unit more rounds to infinity"
        assert magnitude_of(largest + largest * 2.0**-55) == largest
        assert magnitude_of(tiny * tiny) == magnitude_of(tiny / (one + one + one)) == SMALLEST


def test_below_the_normal_numbers_it_is_rounded_but_never_to_zero() -> None:
    """Not even of a quad number whose first word is zero."""
    value = quads() * np.asarray(2.0**-600).astype(QUAD) * np.asarray(2.0**-450).astype(QUAD)
    below = value[np.abs(value) < 2.0**-1022]
    magnitude = magnitude_of(below)
    assert len(below) > 8_000
    off = np.abs(np.abs(below) - magnitude) / np.asarray(SMALLEST).astype(QUAD)
    assert np.all((off < 1) | (magnitude == SMALLEST))
    words = np.array([[1, 0], [1 << 63, 0], [1, 1 << 63]], np.uint64)  # the low word first
    words = words if sys.byteorder == "little" else words[:, ::-1]
    assert np.all(magnitude_of(np.ascontiguousarray(words).reshape(-1).view(QUAD)) == SMALLEST)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (3, 4), (2, 3, 4)])
def test_any_shape_and_any_strides(shape: tuple[int, ...]) -> None:
    """And what is read is a copy."""
    value = quads(shape)
    for view in (value, value.T, value[..., ::-1] if shape else value):
        magnitude = magnitude_of(view)
        assert magnitude.shape == view.shape
        assert magnitude.tobytes() == converted(view).tobytes()
    before = value.tobytes()
    magnitude_of(value)[...] = 7.0
    assert value.tobytes() == before


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_no_wider_is_as_it_is(dtype: Any) -> None:
    """Absolute values, of arrays of one number as well, and never the array itself."""
    for value in (np.asarray(-1.5, dtype), np.array([1.5, -0.0, np.inf], dtype)):
        magnitude = magnitude_of(value)
        assert isinstance(magnitude, np.ndarray)
        assert magnitude.tobytes() == np.abs(value).tobytes()
        assert not np.shares_memory(magnitude, value)
