"""Adagrad."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Number, elementwise
from optimetry.reference.rules.adagrad import Adagrad


def adagrad(w: Number, g: Number, m: Number, lr: Number, epsilon: Number) -> tuple[Number, Number]:
    """``m += g²; w -= lr g / (√m + ε)``."""
    m = m + g * g
    return w - lr * g / (np.sqrt(m) + epsilon), m


CUDA = """
    m = m + g * g;
    w = w - lr * g / (sqrt(m) + epsilon);
"""


def kernel(rule: Adagrad) -> Kernel:
    """The kernel of Adagrad."""
    return elementwise(adagrad, ("moment",), lambda lr, t: (lr, rule.epsilon), CUDA, by_rows=True)
