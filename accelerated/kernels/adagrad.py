"""Adagrad."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.adagrad import Adagrad


def adagrad(w: Real, g: Real, m: Real, lr: Real, epsilon: Real) -> tuple[Real, Real]:
    """``m += g²; w -= lr g / (√m + ε)``."""
    m = m + g * g
    return w - lr * g / (np.sqrt(m) + epsilon), m


CUDA = """
    m = m + g * g;
    w = w - lr * g / (sqrt(m) + epsilon);
"""


def kernel(rule: Adagrad) -> Kernel:
    """Return the kernel of Adagrad."""
    return elementwise(adagrad, ("moment",), lambda lr, t: (lr, rule.epsilon), CUDA, by_rows=True)
