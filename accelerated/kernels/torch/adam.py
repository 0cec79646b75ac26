"""Adam of torch.optim, with either kind of decay."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import corrected, weights
from optimetry.accelerated.kernels.torch.decay import decay_of
from optimetry.reference.books.torch.adam import Adam


def adam(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    lr_t: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    eps: Real,
    sign: Real,
    l2: Real,
    keep: Real,
) -> tuple[Real, Real, Real]:
    """``g = sign g + l2 w; m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; w = keep w - lr_t m / (√v + ε)``."""
    g = sign * g + l2 * w
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    return keep * w - lr_t * m / (np.sqrt(v) + eps), m, v


def amsgrad(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    u: Real,
    lr_t: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    eps: Real,
    sign: Real,
    l2: Real,
    keep: Real,
) -> tuple[Real, Real, Real, Real]:
    """``g``, ``m`` and ``v`` as above; ``u = max(u, v); w = keep w - lr_t m / (√u + ε)``."""
    g = sign * g + l2 * w
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    u = np.maximum(u, v)
    return keep * w - lr_t * m / (np.sqrt(u) + eps), m, v, u


CUDA = """
    g = sign * g + l2 * w;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    w = keep * w - lr_t * m / (sqrt(v) + eps);
"""
AMSGRAD_CUDA = """
    g = sign * g + l2 * w;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    u = u > v || u != u ? u : v;  // NaN if either is, unlike fmax
    w = keep * w - lr_t * m / (sqrt(u) + eps);
"""


def kernel(rule: Adam) -> Kernel:
    """Return the kernel of Adam; without AMSGrad the largest second moment is not even read."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, eps = corrected(rule.beta1, rule.beta2, rule.eps, t)
        return lr * factor, *weights(rule.beta1, rule.beta2), eps, *decay_of(rule, lr)

    slots = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    if rule.amsgrad:
        return elementwise(amsgrad, slots, scalars, AMSGRAD_CUDA, regrouped=True)
    return elementwise(adam, slots[:2], scalars, CUDA, regrouped=True)
