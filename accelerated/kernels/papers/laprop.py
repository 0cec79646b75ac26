"""LaProp, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.books.papers.laprop import LaProp


def laprop(
    w: Real,
    g: Real,
    n: Real,
    m: Real,
    lr_t: Real,
    mu: Real,
    rest1: Real,
    nu: Real,
    rest2: Real,
    corrected_epsilon: Real,
) -> tuple[Real, Real, Real]:
    """``n = ν n + (1 - ν) g²; m = μ m + k g / (√n + ε'); w -= lr_t m``."""
    n = nu * n + rest2 * (g * g)
    m = mu * m + rest1 * (g / (np.sqrt(n) + corrected_epsilon))
    return w - lr_t * m, n, m


CUDA = """
    n = nu * n + rest2 * (g * g);
    m = mu * m + rest1 * (g / (sqrt(n) + corrected_epsilon));
    w = w - lr_t * m;
"""


def kernel(rule: LaProp) -> Kernel:
    """Return the kernel of LaProp; the correction of the second moment is in the weight of what is averaged."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        root = float(np.sqrt(1 - rule.nu**t))
        weight, epsilon = (1 - rule.mu) * root, rule.epsilon * root
        return lr / (1 - rule.mu**t), rule.mu, weight, rule.nu, 1 - rule.nu, epsilon

    return elementwise(laprop, ("n", "m"), scalars, CUDA, regrouped=True)
