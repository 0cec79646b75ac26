"""Stochastic gradient descent."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Number, elementwise
from optimetry.reference.rules.sgd import SGD


def sgd(w: Number, g: Number, lr: Number) -> tuple[Number]:
    """``w -= lr g``."""
    return (w - lr * g,)


CUDA = """
    w = w - lr * g;
"""


def kernel(rule: SGD) -> Kernel:
    """The kernel of SGD."""
    return elementwise(sgd, (), lambda lr, t: (lr,), CUDA, by_rows=True)
