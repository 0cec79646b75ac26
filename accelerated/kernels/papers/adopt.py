"""ADOPT, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.books.papers.adopt import ADOPT


def adopt(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    lr: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    epsilon: Real,
    clip: Real,
) -> tuple[Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) clip(g / max(√v, ε), -c, c) if c > 0; w -= lr m; v = β₂ v + (1 - β₂) g²``."""
    normalized = g / np.maximum(np.sqrt(v), epsilon)
    averaged = beta1 * m + rest1 * np.minimum(np.maximum(normalized, -clip), clip)
    m = select(clip > 0, averaged, m)
    return w - lr * m, m, beta2 * v + rest2 * (g * g)


CUDA = """
    const real root = sqrt(v), normalized = g / (root > epsilon || root != root ? root : epsilon);
    const real clipped = normalized > clip ? clip : normalized < -clip ? -clip : normalized;  // NaN stays NaN
    m = clip > 0 ? beta1 * m + rest1 * clipped : m;
    w = w - lr * m;
    v = beta2 * v + rest2 * (g * g);
"""


def kernel(rule: ADOPT) -> Kernel:
    """Return the kernel of ADOPT; the first gradient is only squared, which the clip of 0 and its weights give."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        beta1, rest1, beta2, rest2 = weights(rule.beta1, rule.beta2 if t > 1 else 0.0)
        return lr, beta1, rest1, beta2, rest2, rule.epsilon, float(t - 1) ** 0.25

    return elementwise(adopt, ("m", "v"), scalars, CUDA)
