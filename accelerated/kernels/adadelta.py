"""Adadelta."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.adadelta import Adadelta


def adadelta(
    w: Real, g: Real, a: Real, u: Real, lr: Real, rho: Real, rest: Real, epsilon: Real
) -> tuple[Real, Real, Real]:
    """``a = ρ a + (1 - ρ) g²; d = √((u + ε) / (a + ε)) g; u = ρ u + (1 - ρ) d²; w -= lr d``."""
    a = rho * a + rest * (g * g)
    d = np.sqrt((u + epsilon) / (a + epsilon)) * g
    u = rho * u + rest * (d * d)
    return w - lr * d, a, u


CUDA = """
    a = rho * a + rest * (g * g);
    const real d = sqrt((u + epsilon) / (a + epsilon)) * g;
    u = rho * u + rest * (d * d);
    w = w - lr * d;
"""


def kernel(rule: Adadelta) -> Kernel:
    """Return the kernel of Adadelta."""
    slots = ("avg_squared_grad", "avg_squared_update")
    return elementwise(adadelta, slots, lambda lr, t: (lr, rule.rho, 1 - rule.rho, rule.epsilon), CUDA)
