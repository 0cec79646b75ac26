"""Converts float16 and bfloat16 from and to bits, for compiled loops: Numba has neither type on the CPU.

Branch-free, so that loops over them are vectorised. Narrowing rounds to nearest even, keeps subnormals and makes every
NaN quiet, as NumPy and ml_dtypes do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def as_bits(context: Any, number: Any) -> Any:
    """Return the bits of a float32 as uint32."""
    return types.uint32(types.float32), lambda context, builder, signature, arguments: builder.bitcast(
        arguments[0], context.get_value_type(types.uint32)
    )


@intrinsic
def as_float(context: Any, bits: Any) -> Any:
    """Return the float32 of these 32 bits."""
    return types.float32(types.uint32), lambda context, builder, signature, arguments: builder.bitcast(
        arguments[0], context.get_value_type(types.float32)
    )


def _widen_bfloat16(half: Any) -> Any:
    return as_float(np.uint32(half) << np.uint32(16))


def _narrow_bfloat16(number: Any) -> Any:
    bits = as_bits(number)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.uint16(quiet if (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000) else rounded)


def _widen_float16(half: Any) -> Any:
    magnitude = np.uint32(half & np.uint16(0x7FFF)) << np.uint32(13)
    sign = np.uint32(half & np.uint16(0x8000)) << np.uint32(16)
    normal = magnitude + np.uint32(112 << 23)  # the exponent's bias, 15, becomes 127
    special = magnitude + np.uint32(224 << 23)
    # A subnormal has no leading 1: give it one, as 2^-14 + x, and take it away again, exactly.
    subnormal = as_bits(as_float(magnitude + np.uint32(113 << 23)) - as_float(np.uint32(113 << 23)))
    finite = subnormal if magnitude < np.uint32(0x00800000) else normal
    return as_float((special if magnitude >= np.uint32(0x0F800000) else finite) | sign)


def _narrow_float16(number: Any) -> Any:
    bits = as_bits(number)
    sign = (bits >> np.uint32(16)) & np.uint32(0x8000)
    magnitude = bits & np.uint32(0x7FFFFFFF)
    odd = (magnitude >> np.uint32(13)) & np.uint32(1)
    normal = (magnitude - np.uint32(112 << 23) + np.uint32(0xFFF) + odd) >> np.uint32(13)
    # 0.5 + x has exactly the spacing of float16's subnormals: the addition rounds.
    subnormal = as_bits(as_float(magnitude) + as_float(np.uint32(126 << 23))) - np.uint32(126 << 23)
    finite = subnormal if magnitude < np.uint32(113 << 23) else normal
    special = np.uint32(0x7E00) if magnitude > np.uint32(0x7F800000) else np.uint32(0x7C00)
    return np.uint16((special if magnitude >= np.uint32(143 << 23) else finite) | sign)


CONVERSIONS = {
    "bfloat16": (njit(_widen_bfloat16), njit(_narrow_bfloat16)),
    "float16": (njit(_widen_float16), njit(_narrow_float16)),
}
"""Widening to float32 and narrowing from it, by the name of the narrow dtype."""
