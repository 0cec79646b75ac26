"""AdaMax, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.reference.books.papers.adamax import AdaMax


def adamax(
    w: Real, g: Real, m: Real, u: Real, lr_t: Real, beta1: Real, rest1: Real, beta2: Real
) -> tuple[Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; u = max(β₂ u, |g|); w -= lr_t (m / u)``, and no step where ``u`` is 0."""
    m = beta1 * m + rest1 * g
    u = np.maximum(beta2 * u, np.abs(g))
    return w - lr_t * select(u != 0, m / u, 0.0), m, u


CUDA = """
    m = beta1 * m + rest1 * g;
    const real decayed = beta2 * u, size = fabs(g);
    u = decayed > size || decayed != decayed ? decayed : size;  // NaN if either is, unlike fmax
    w = w - lr_t * (u != 0 ? m / u : (real)0);
"""


def kernel(rule: AdaMax) -> Kernel:
    """Return the kernel of AdaMax."""
    scalars = lambda lr, t: (lr / (1 - rule.beta1**t), rule.beta1, 1 - rule.beta1, rule.beta2)  # noqa: E731
    return elementwise(adamax, ("m", "u"), scalars, CUDA)
