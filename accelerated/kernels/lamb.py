"""LAMB."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass, Rate, Real
from optimetry.reference.rules.lamb import Lamb


def lamb_moments(
    w: Real, g: Real, m: Real, v: Real, beta1: Real, rest1: Real, beta2: Real, rest2: Real, epsilon: Real, decay: Real
) -> tuple[Real, Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; q = m / (√v + ε) + λ w``: moments, and what norms are of."""
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    return w, m / (np.sqrt(v) + epsilon) + decay * w, m, v


def lamb(w: Real, m: Real, v: Real, rate: Real, epsilon: Real, decay: Real) -> tuple[Real]:
    """``w -= rate q``: the direction is computed again, which costs less than to keep it."""
    return (w - rate * (m / (np.sqrt(v) + epsilon) + decay * w),)


MOMENTS_CUDA = """
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    measured0 = w;
    measured1 = m / (sqrt(v) + epsilon) + decay * w;
"""
CUDA = """
    w = w - rate * (m / (sqrt(v) + epsilon) + decay * w);
"""
RATE = "lr * (param_norm > 0 && direction_norm > 0 ? param_norm / direction_norm : 1)"


def kernel(rule: Lamb) -> Kernel:
    """Return the kernel of LAMB: moments and norms, then the update."""
    moments, decay = ("moment1", "moment2"), rule.lamb_weight_decay
    fixed = (rule.beta1, 1 - rule.beta1, rule.beta2, 1 - rule.beta2, rule.epsilon, decay)

    def scalars(lr: float, t: Real, param_norm: Real, direction_norm: Real) -> tuple[Real, ...]:
        ratio = np.where((param_norm > 0) & (direction_norm > 0), param_norm / direction_norm, 1.0)
        return lr * ratio, rule.epsilon, decay

    measure = Pass(lamb_moments, (PARAM, GRAD, *moments), moments, lambda lr, t: fixed, sums=2, cuda=MOMENTS_CUDA)
    return Kernel((measure, Pass(lamb, (PARAM, *moments), (PARAM,), scalars, cuda=CUDA, rate=Rate(RATE))))
