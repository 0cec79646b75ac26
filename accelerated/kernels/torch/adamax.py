"""Adamax of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.adamax import Adamax


def adamax(
    w: Real,
    g: Real,
    m: Real,
    u: Real,
    lr_t: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    eps: Real,
    sign: Real,
    l2: Real,
) -> tuple[Real, Real, Real]:
    """``g = sign g + l2 w; m = β₁ m + (1 - β₁) g; u = max(β₂ u, |g| + ε); w -= lr_t m / u``."""
    g = sign * g + l2 * w
    m = beta1 * m + rest1 * g
    u = np.maximum(beta2 * u, np.abs(g) + eps)
    return w - lr_t * m / u, m, u


CUDA = """
    g = sign * g + l2 * w;
    m = beta1 * m + rest1 * g;
    const real decayed = beta2 * u, size = fabs(g) + eps;
    u = decayed > size || decayed != decayed ? decayed : size;  // NaN if either is, unlike fmax
    w = w - lr_t * m / u;
"""


def kernel(rule: Adamax) -> Kernel:
    """Return the kernel of Adamax."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        decays = rule.beta1, 1 - rule.beta1, rule.beta2
        return lr / (1 - rule.beta1**t), *decays, rule.eps, sign_of(rule.maximize), rule.weight_decay

    return elementwise(adamax, ("exp_avg", "exp_inf"), scalars, CUDA, regrouped=True)
