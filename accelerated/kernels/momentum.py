"""Gradient descent with (Nesterov) momentum."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Number, elementwise
from optimetry.reference.rules.momentum import Momentum


def momentum(w: Number, g: Number, v: Number, lr: Number, mu: Number) -> tuple[Number, Number]:
    """``v = mu v + g; w -= lr v``."""
    v = mu * v + g
    return w - lr * v, v


def nesterov(w: Number, g: Number, v: Number, lr: Number, mu: Number) -> tuple[Number, Number]:
    """``v = mu v + g; w -= lr (g + mu v)``."""
    v = mu * v + g
    return w - lr * (g + mu * v), v


CUDA = """
    v = mu * v + g;
    w = w - lr * v;
"""
NESTEROV_CUDA = """
    v = mu * v + g;
    w = w - lr * (g + mu * v);
"""


def kernel(rule: Momentum) -> Kernel:
    """The kernel of momentum, plain or Nesterov."""
    function, cuda = (nesterov, NESTEROV_CUDA) if rule.use_nesterov else (momentum, CUDA)
    return elementwise(function, ("velocity",), lambda lr, t: (lr, rule.momentum), cuda, by_rows=True)
