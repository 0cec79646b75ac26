"""Stochastic gradient descent."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.sgd import SGD


def sgd(w: Real, g: Real, lr: Real) -> tuple[Real]:
    """``w -= lr g``."""
    return (w - lr * g,)


CUDA = """
    w = w - lr * g;
"""


def kernel(rule: SGD) -> Kernel:
    """Return the kernel of SGD."""
    return elementwise(sgd, (), lambda lr, t: (lr,), CUDA, by_rows=True)
