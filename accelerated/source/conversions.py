"""Converts float16 and bfloat16 from and to bits, for compiled loops: Numba has neither type on the CPU.

Branch-free, so that loops over them are vectorised. Narrowing rounds to nearest even, keeps subnormals and makes every
NaN quiet, as NumPy and ml_dtypes do. float16 is converted by the processor where it can, else as bits.

To Numba a sum or shift of 32-bit whole numbers has 64 bits, of which a vector holds half as many; so each is made a
``uint32`` again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.registry import cpu_target
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


@intrinsic
def _extended(context: Any, half: Any) -> Any:
    """Return the float32 of the 16 bits of a float16, by an instruction."""
    return types.float32(types.uint16), lambda context, builder, signature, arguments: builder.fpext(
        builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType()
    )


@intrinsic
def _truncated(context: Any, number: Any) -> Any:
    """Return the 16 bits of the float16 nearest to a float32, by an instruction."""
    return types.uint16(types.float32), lambda context, builder, signature, arguments: builder.bitcast(
        builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16)
    )


def _widen_bfloat16(half: Any) -> Any:
    return as_float(np.uint32(half) << np.uint32(16))


def _narrow_bfloat16(number: Any) -> Any:
    bits = as_bits(number)
    high = np.uint32(bits >> np.uint32(16))
    rounded = np.uint32(bits + np.uint32(np.uint32(0x7FFF) + (high & np.uint32(1)))) >> np.uint32(16)
    return np.uint16(rounded if number == number else high | np.uint32(0x40))


def _widen_float16_bits(half: Any) -> Any:
    magnitude = np.uint32(half & np.uint16(0x7FFF)) << np.uint32(13)
    sign = np.uint32(half & np.uint16(0x8000)) << np.uint32(16)
    normal = np.uint32(magnitude + np.uint32(112 << 23))  # the exponent's bias, 15, becomes 127
    special = np.uint32(magnitude + np.uint32(224 << 23))
    # A subnormal has no leading 1: give it one, as 2^-14 + x, and take it away again, exactly.
    subnormal = as_bits(as_float(np.uint32(magnitude + np.uint32(113 << 23))) - as_float(np.uint32(113 << 23)))
    finite = subnormal if magnitude < np.uint32(0x00800000) else normal
    return as_float((special if magnitude >= np.uint32(0x0F800000) else finite) | sign)


def _narrow_float16_bits(number: Any) -> Any:
    bits = as_bits(number)
    sign = np.uint32(bits >> np.uint32(16)) & np.uint32(0x8000)
    magnitude = np.uint32(bits & np.uint32(0x7FFFFFFF))
    odd = np.uint32(magnitude >> np.uint32(13)) & np.uint32(1)
    normal = np.uint32(np.uint32(magnitude - np.uint32((112 << 23) - 0xFFF)) + odd)
    # 0.5 + x has exactly the spacing of float16's subnormals: the addition rounds.
    subnormal = np.uint32(as_bits(as_float(magnitude) + as_float(np.uint32(126 << 23))) - np.uint32(126 << 23))
    finite = subnormal if magnitude < np.uint32(113 << 23) else np.uint32(normal >> np.uint32(13))
    special = np.uint32(0x7E00) if number != number else np.uint32(0x7C00)
    return np.uint16(np.uint32(special if magnitude >= np.uint32(143 << 23) else finite) | sign)


def _widen_float16(half: Any) -> Any:
    return _extended(half)


def _narrow_float16(number: Any) -> Any:
    return _truncated(number)


def _converts_float16() -> bool:
    """Return whether what Numba compiles for has instructions for float16; without, LLVM would call a library."""
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return "+f16c" in features.split(",") or triple.startswith(("aarch64", "arm64"))


BIT_CONVERSIONS = {
    "bfloat16": (njit(_widen_bfloat16), njit(_narrow_bfloat16)),
    "float16": (njit(_widen_float16_bits), njit(_narrow_float16_bits)),
}
"""Widening to float32 and narrowing from it, by the name of the narrow dtype: by arithmetic of whole numbers."""

INSTRUCTIONS = {"float16": (njit(_widen_float16), njit(_narrow_float16))} if _converts_float16() else {}
"""The same by instructions of the processor. That of x86 for bfloat16 is not used: it flushes subnormals."""

CONVERSIONS = BIT_CONVERSIONS | INSTRUCTIONS
"""Those that loops use."""
