"""SparseAdam of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.moments import corrected, weights
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.sparse_adam import SparseAdam


def sparse_adam(
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
) -> tuple[Real, Real, Real]:
    """Where ``g`` is not 0: ``m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; w -= lr_t m / (√v + ε)``."""
    g = sign * g
    nonzero = np.logical_not(g == 0)
    m = select(nonzero, beta1 * m + rest1 * g, m)
    v = select(nonzero, beta2 * v + rest2 * (g * g), v)
    return select(nonzero, w - lr_t * m / (np.sqrt(v) + eps), w), m, v


CUDA = """
    g = sign * g;
    if (!(g == 0)) {
        m = beta1 * m + rest1 * g;
        v = beta2 * v + rest2 * (g * g);
        w = w - lr_t * m / (sqrt(v) + eps);
    }
"""


def kernel(rule: SparseAdam) -> Kernel:
    """Return the kernel of SparseAdam, for gradients that are stored whole."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, eps = corrected(rule.beta1, rule.beta2, rule.eps, t)
        return lr * factor, *weights(rule.beta1, rule.beta2), eps, sign_of(rule.maximize)

    return elementwise(sparse_adam, ("exp_avg", "exp_avg_sq"), scalars, CUDA, regrouped=True)
