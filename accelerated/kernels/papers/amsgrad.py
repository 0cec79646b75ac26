"""AMSGrad, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.books.papers.amsgrad import AMSGrad


def amsgrad(
    w: Real, g: Real, m: Real, v: Real, u: Real, lr: Real, beta1: Real, rest1: Real, beta2: Real, rest2: Real
) -> tuple[Real, Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; u = max(u, v); w -= lr m / √u``, no step where ``u`` is 0."""
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    u = np.maximum(u, v)
    return w - lr * select(u != 0, m / np.sqrt(u), 0.0), m, v, u


CUDA = """
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    u = u > v || u != u ? u : v;  // NaN if either is, unlike fmax
    w = w - lr * (u != 0 ? m / sqrt(u) : (real)0);
"""


def kernel(rule: AMSGrad) -> Kernel:
    """Return the kernel of AMSGrad."""
    return elementwise(amsgrad, ("m", "v", "v_max"), lambda lr, t: (lr, *weights(rule.beta1, rule.beta2)), CUDA)
