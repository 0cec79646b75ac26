"""The lines with which the algorithms of ``torch.optim`` begin."""

from __future__ import annotations

from typing import Any

from optimetry.reference.rule import Array


def directed(grad: Array, maximize: bool) -> Array:
    """Return the gradient to descend along: negated to maximize."""
    return -grad if maximize else grad


def with_decay(grad: Array, param: Array, weight_decay: Any) -> Array:
    """Add the gradient of an L2 penalty."""
    return grad + weight_decay * param
