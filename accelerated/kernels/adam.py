"""Adam."""

from __future__ import annotations

import math

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.adam import Adam


def adam(
    w: Real, g: Real, m: Real, v: Real, lr_t: Real, beta1: Real, rest1: Real, beta2: Real, rest2: Real, epsilon: Real
) -> tuple[Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; w -= lr_t m / (√v + ε)``."""
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    return w - lr_t * m / (np.sqrt(v) + epsilon), m, v


CUDA = """
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    w = w - lr_t * m / (sqrt(v) + epsilon);
"""


def kernel(rule: Adam) -> Kernel:
    """Return the kernel of Adam."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        lr_t = lr * math.sqrt(1 - rule.beta2**t) / (1 - rule.beta1**t)
        return lr_t, rule.beta1, 1 - rule.beta1, rule.beta2, 1 - rule.beta2, rule.epsilon

    return elementwise(adam, ("moment1", "moment2"), scalars, CUDA)
