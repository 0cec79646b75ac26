"""Exact rational arithmetic, and correct rounding to a format: what the tests of `Bounded` measure it by.

Numbers are `Fraction`, or None where a result is infinite or not a number. Roots and fractional powers, which are
seldom rational, are right to `GUARD` bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.conformance.numerics.formats import QUAD, Format

GUARD = 320
"""Bits of an irrational number that are right: far more than the 113 of the widest format."""

Number = Fraction | None

_finfo: Any = ml_dtypes.finfo  # which has no types


class Direction(Enum):
    """Which of the two neighbours in a format a number is rounded to; a faithful function may return either."""

    NEAREST = "nearest"
    DOWN = "down"
    UP = "up"


_TO_WHOLE: dict[Direction, Callable[[Fraction], int]] = {
    Direction.NEAREST: round,
    Direction.DOWN: math.floor,
    Direction.UP: math.ceil,
}


def fraction(number: Any) -> Number:
    """The exact value of a floating-point number of any dtype, quad precision included."""
    array = np.asarray(number)
    if array.dtype != QUAD:
        as_float = float(array)
        return Fraction(as_float) if math.isfinite(as_float) else None
    bits = int.from_bytes(array.tobytes(), "little")
    exponent, significand = bits >> 112 & 0x7FFF, bits & (1 << 112) - 1
    if exponent == 0x7FFF:
        return None
    sign = -1 if bits >> 127 else 1
    return _times_power_of_two(sign * (significand | (exponent > 0) << 112), max(exponent, 1) - 16383 - 112)


def fractions(array: Any) -> Any:
    """An array of `Number` with the exact values of a floating-point array."""
    flat = np.asarray(array).reshape(-1)
    exact = np.empty(flat.shape, object)
    exact[:] = [fraction(flat[i]) for i in range(flat.size)]
    return exact.reshape(np.shape(array))


def rounded(number: Number, form: Format, direction: Direction = Direction.NEAREST) -> Number:
    """A number rounded to a format, ties to even; None if it overflows."""
    if not number:
        return number
    info = _finfo(form.dtype)
    ulp = max(_exponent(abs(number)) - int(info.nmant), math.frexp(float(info.smallest_subnormal))[1] - 1)
    scaled = number * _times_power_of_two(1, -ulp)
    result = _times_power_of_two(_TO_WHOLE[direction](scaled), ulp)
    return None if abs(result) > Fraction(form.largest) else result


def _times_power_of_two(whole: int, exponent: int) -> Fraction:
    return Fraction(whole << exponent) if exponent >= 0 else Fraction(whole, 1 << -exponent)


def _exponent(number: Fraction) -> int:
    """The largest whole number whose power of two is at most ``number``, which is positive."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if _times_power_of_two(1, guess) <= number else guess - 1


def _to_guard(number: Fraction) -> Fraction:
    unit = _exponent(number) - GUARD if number else 0
    return _times_power_of_two(round(number * _times_power_of_two(1, -unit)), unit)


def sqrt(number: Fraction) -> Number:
    """The square root: exact where it is rational."""
    if number < 0:
        return None
    product = number.numerator * number.denominator
    root = math.isqrt(product)
    if root * root == product:
        return Fraction(root, number.denominator)
    shift = max(GUARD - product.bit_length() // 2, 0)
    return Fraction(math.isqrt(product << 2 * shift), number.denominator << shift)


def cbrt(number: Fraction) -> Number:
    """The cube root, of either sign."""
    if number < 0:
        return -(cbrt(-number) or Fraction(0))
    cube = number.numerator * number.denominator**2
    shift = max(GUARD - cube.bit_length() // 3, 0)
    cube <<= 3 * shift
    root = 1 << -(-cube.bit_length() // 3)  # from above, where Newton's steps fall until they are as near as can be
    while (next_root := (2 * root + cube // root**2) // 3) < root:
        root = next_root
    return Fraction(root, number.denominator << shift)


def power(base: Fraction, exponent: Fraction) -> Number:
    """A power: exact for a whole exponent; of a base that is not negative for any other."""
    if base == 0 and exponent < 0:
        return None
    if exponent.denominator == 1:
        return base**exponent.numerator
    if base <= 0:
        return None if base < 0 else Fraction(0)
    whole, fractional = divmod(exponent, 1)
    result, root = base**whole, base
    while fractional:
        root = _to_guard(sqrt(root) or Fraction(0))
        bit, fractional = divmod(2 * fractional, 1)
        result = _to_guard(result * root) if bit else result
    return result


def quotient(a: Fraction, b: Fraction) -> Number:
    """A quotient; None for a divisor of zero."""
    return a / b if b else None


def sign(number: Fraction) -> Number:
    """-1, 0 or 1."""
    return Fraction((number > 0) - (number < 0))


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` on arrays of `Number`, None wherever an argument is."""

    def lifted(*numbers: Any) -> Any:
        return None if any(number is None for number in numbers) else function(*numbers)

    def applied(*arrays: Any) -> Any:
        return np.asarray(np.frompyfunc(lifted, len(arrays), 1)(*arrays), object)

    return applied
