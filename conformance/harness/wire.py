"""Writes messages as they are sent, and quotes what came as an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

QUOTED = 120
"""Characters of an answer that an error text quotes."""


def wire(message: Mapping[str, Any]) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def as_json(value: Any) -> Any:
    """Return a hyperparameter or a learning rate as JSON has it: infinities and NaN are strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def hyper_as_json(hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Return hyperparameters as JSON has them."""
    return {name: as_json(value) for name, value in hyper.items()}


def quoted(text: bytes | bytearray | str) -> str:
    """Quote the beginning of what a program printed."""
    if not isinstance(text, str):
        text = bytes(text[: 4 * QUOTED]).decode("utf-8", "replace")
    text = text.strip()
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}…")
