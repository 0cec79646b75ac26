"""How a process ended, in words."""

from __future__ import annotations

import signal


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "closed its connection"
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
