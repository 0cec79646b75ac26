"""RMSProp."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.rmsprop import RMSProp


def rmsprop(
    w: Real, g: Real, r: Real, v: Real, lr: Real, rho: Real, rest: Real, mu: Real, epsilon: Real
) -> tuple[Real, Real, Real]:
    """``r = ρ r + (1 - ρ) g²; v = μ v + lr g / √(r + ε); w -= v``."""
    r = rho * r + rest * (g * g)
    v = mu * v + lr * g / np.sqrt(r + epsilon)
    return w - v, r, v


def centered(
    w: Real, g: Real, r: Real, a: Real, v: Real, lr: Real, rho: Real, rest: Real, mu: Real, epsilon: Real
) -> tuple[Real, Real, Real, Real]:
    """``r`` as above; ``a = ρ a + (1 - ρ) g; v = μ v + lr g / √(r - a² + ε); w -= v``."""
    r = rho * r + rest * (g * g)
    a = rho * a + rest * g
    v = mu * v + lr * g / np.sqrt(r - a * a + epsilon)
    return w - v, r, a, v


CUDA = """
    r = rho * r + rest * (g * g);
    v = mu * v + lr * g / sqrt(r + epsilon);
    w = w - v;
"""
CENTERED_CUDA = """
    r = rho * r + rest * (g * g);
    a = rho * a + rest * g;
    v = mu * v + lr * g / sqrt(r - a * a + epsilon);
    w = w - v;
"""


def kernel(rule: RMSProp) -> Kernel:
    """Return the kernel of RMSProp; where it is not centered, the mean gradient is not even read."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        return lr, rule.rho, 1 - rule.rho, rule.momentum, rule.epsilon

    if rule.centered:
        return elementwise(centered, ("mean_square", "mean_grad", "velocity"), scalars, CENTERED_CUDA)
    return elementwise(rmsprop, ("mean_square", "velocity"), scalars, CUDA)
