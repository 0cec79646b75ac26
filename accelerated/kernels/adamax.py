"""Adamax."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.adamax import Adamax


def adamax(
    w: Real, g: Real, m: Real, u: Real, lr_t: Real, beta1: Real, rest1: Real, beta2: Real, epsilon: Real
) -> tuple[Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; u = max(β₂ u + ε, |g|); w -= lr_t (m / u)``."""
    m = beta1 * m + rest1 * g
    u = np.maximum(beta2 * u + epsilon, np.abs(g))
    return w - lr_t * (m / u), m, u


CUDA = """
    m = beta1 * m + rest1 * g;
    const real decayed = beta2 * u + epsilon, size = fabs(g);
    u = decayed > size || decayed != decayed ? decayed : size;  // NaN if either is, unlike fmax
    w = w - lr_t * (m / u);
"""


def kernel(rule: Adamax) -> Kernel:
    """Return the kernel of Adamax."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        return lr / (1 - rule.beta1**t), rule.beta1, 1 - rule.beta1, rule.beta2, rule.epsilon

    return elementwise(adamax, ("moment", "inf_norm"), scalars, CUDA)
