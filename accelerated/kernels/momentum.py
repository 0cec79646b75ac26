"""Gradient descent with (Nesterov) momentum."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.momentum import Momentum


def momentum(w: Real, g: Real, v: Real, lr: Real, mu: Real) -> tuple[Real, Real]:
    """``v = mu v + g; w -= lr v``."""
    v = mu * v + g
    return w - lr * v, v


def nesterov(w: Real, g: Real, v: Real, lr: Real, mu: Real) -> tuple[Real, Real]:
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
    """Return the kernel of momentum, plain or Nesterov."""
    function, cuda = (nesterov, NESTEROV_CUDA) if rule.use_nesterov else (momentum, CUDA)
    return elementwise(function, ("velocity",), lambda lr, t: (lr, rule.momentum), cuda)
