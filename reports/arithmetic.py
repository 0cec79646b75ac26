"""Puts into words how a rule is computed where it is not operation by operation in the arrays' own precision."""

from __future__ import annotations

from typing import Any

WAYS = {
    "flushes_subnormals": "flushes subnormals",
    "incremental_moments": "moments formed as increments",
    "step_in_parts": "step subtracted in parts",
    "computed_in_float32": "computed in float32",
    "computed_in_bfloat16": "computed in bfloat16",
    "computed_in_float16": "computed in float16",
    "steps_in_float32": "steps computed in float32",
    "steps_in_bfloat16": "steps computed in bfloat16",
    "steps_in_float16": "steps computed in float16",
    "float32": "{} in float32",
    "float32_in_some_uses": "{} in float32 in some uses",
    "combined_in_float32": "{} combined in float32",
}
"""The entries of `Computes.arithmetic` in words; braces stand for the numbers that one is about."""


def described(way: Any) -> str:
    """One entry of `Computes.arithmetic` in words."""
    if not isinstance(way, dict):
        return WAYS.get(way, str(way))
    return "; ".join(WAYS.get(name, name + ": {}").format(", ".join(numbers)) for name, numbers in way.items())
