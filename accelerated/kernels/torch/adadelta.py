"""Adadelta of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.adadelta import Adadelta


def adadelta(
    w: Real, g: Real, v: Real, u: Real, lr: Real, rho: Real, rest: Real, eps: Real, sign: Real, l2: Real
) -> tuple[Real, Real, Real]:
    """``g = sign g + l2 w; v = ρ v + (1 - ρ) g²; d = √(u + ε) / √(v + ε) g; u = ρ u + (1 - ρ) d²; w -= lr d``."""
    g = sign * g + l2 * w
    v = rho * v + rest * (g * g)
    d = np.sqrt(u + eps) / np.sqrt(v + eps) * g
    return w - lr * d, v, rho * u + rest * (d * d)


CUDA = """
    g = sign * g + l2 * w;
    v = rho * v + rest * (g * g);
    const real d = sqrt(u + eps) / sqrt(v + eps) * g;
    u = rho * u + rest * (d * d);
    w = w - lr * d;
"""


def kernel(rule: Adadelta) -> Kernel:
    """Return the kernel of Adadelta."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        return lr, rule.rho, 1 - rule.rho, rule.eps, sign_of(rule.maximize), rule.weight_decay

    return elementwise(adadelta, ("square_avg", "acc_delta"), scalars, CUDA)
