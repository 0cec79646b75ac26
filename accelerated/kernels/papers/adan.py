"""Adan, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.books.papers.adan import Adan


def adan(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    n: Real,
    p: Real,
    lr: Real,
    old1: Real,
    new1: Real,
    old2: Real,
    new2: Real,
    old3: Real,
    new3: Real,
    ahead: Real,
    epsilon: Real,
    keep: Real,
) -> tuple[Real, Real, Real, Real, Real]:
    """Average ``g``, ``g - p`` and ``(g + ahead (g - p))²``; ``w = keep (w - lr (m + ahead v) / (√n + ε)); p = g``."""
    change = g - p
    m = old1 * m + new1 * g
    v = old2 * v + new2 * change
    both = g + ahead * change
    n = old3 * n + new3 * (both * both)
    return keep * (w - lr * (m + ahead * v) / (np.sqrt(n) + epsilon)), m, v, n, g


CUDA = """
    const real change = g - p;
    m = old1 * m + new1 * g;
    v = old2 * v + new2 * change;
    const real both = g + ahead * change;
    n = old3 * n + new3 * (both * both);
    w = keep * (w - lr * (m + ahead * v) / (sqrt(n) + epsilon));
    p = g;
"""


def kernel(rule: Adan) -> Kernel:
    """Return the kernel of Adan; its first averages are the first values, which their weights give."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        of_grad = (1 - rule.beta1, rule.beta1) if t > 1 else (0.0, 1.0)
        of_change = (1 - rule.beta2, rule.beta2) if t > 2 else (0.0, float(t > 1))
        of_square = (1 - rule.beta3, rule.beta3) if t > 1 else (0.0, 1.0)
        ahead = 1 - rule.beta2 if t > 1 else 0.0  # before the first gradient there is no change
        with np.errstate(all="ignore"):
            keep = float(1 / np.float64(1 + rule.weight_decay * lr))
        return lr, *of_grad, *of_change, *of_square, ahead, rule.epsilon, keep

    return elementwise(adan, ("m", "v", "n", "previous"), scalars, CUDA, regrouped=True)
