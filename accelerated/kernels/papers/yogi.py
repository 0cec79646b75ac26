"""Yogi, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.books.papers.yogi import Yogi


def yogi(
    w: Real, g: Real, m: Real, v: Real, lr: Real, beta1: Real, rest1: Real, rest2: Real, epsilon: Real
) -> tuple[Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; v -= (1 - β₂) sign(v - g²) g²; w -= lr m / (√v + ε)``."""
    m = beta1 * m + rest1 * g
    square = g * g
    v = v - rest2 * np.sign(v - square) * square
    return w - lr * m / (np.sqrt(v) + epsilon), m, v


CUDA = """
    m = beta1 * m + rest1 * g;
    const real square = g * g, above = v - square;
    v = v - rest2 * (above > 0 ? (real)1 : above < 0 ? (real)-1 : above) * square;
    w = w - lr * m / (sqrt(v) + epsilon);
"""


def kernel(rule: Yogi) -> Kernel:
    """Return the kernel of Yogi."""
    scalars = lambda lr, t: (lr, rule.beta1, 1 - rule.beta1, 1 - rule.beta2, rule.epsilon)  # noqa: E731
    return elementwise(yogi, ("m", "v"), scalars, CUDA)
