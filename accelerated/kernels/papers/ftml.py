"""FTML, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.ftrl import over
from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.books.papers.ftml import FTML


def ftml(
    w: Real,
    g: Real,
    v: Real,
    d: Real,
    z: Real,
    per_root: Real,
    least: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
) -> tuple[Real, Real, Real, Real]:
    """``v = β₂ v + (1 - β₂) g²; d' = k √v + l; z = β₁ z + (1 - β₁) g - (d' - β₁ d) w; w = -z / d'``."""
    v = beta2 * v + rest2 * (g * g)
    after = per_root * np.sqrt(v) + least
    z = beta1 * z + rest1 * g - (after - beta1 * d) * w
    return -z / after, v, after, z


CUDA = """
    v = beta2 * v + rest2 * (g * g);
    const real after = per_root * sqrt(v) + least;
    z = beta1 * z + rest1 * g - (after - beta1 * d) * w;
    w = -z / after;
    d = after;
"""


def kernel(rule: FTML) -> Kernel:
    """Return the kernel of FTML; the corrections, the rate and epsilon are in the two numbers that give ``d``."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        rate = over(1 - rule.beta1**t, lr)
        return rate / (1 - rule.beta2**t) ** 0.5, rate * rule.epsilon, *weights(rule.beta1, rule.beta2)

    return elementwise(ftml, ("v", "d", "z"), scalars, CUDA, regrouped=True)
