"""AdaBelief, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import corrected, weights
from optimetry.reference.books.papers.adabelief import AdaBelief


def adabelief(
    w: Real,
    g: Real,
    m: Real,
    s: Real,
    lr_t: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    epsilon: Real,
    corrected_epsilon: Real,
) -> tuple[Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; s = β₂ s + (1 - β₂) (g - m)² + ε; w -= lr_t m / (√s + ε')``."""
    m = beta1 * m + rest1 * g
    apart = g - m
    s = beta2 * s + rest2 * (apart * apart) + epsilon
    return w - lr_t * m / (np.sqrt(s) + corrected_epsilon), m, s


CUDA = """
    m = beta1 * m + rest1 * g;
    const real apart = g - m;
    s = beta2 * s + rest2 * (apart * apart) + epsilon;
    w = w - lr_t * m / (sqrt(s) + corrected_epsilon);
"""


def kernel(rule: AdaBelief) -> Kernel:
    """Return the kernel of AdaBelief."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, epsilon = corrected(rule.beta1, rule.beta2, rule.epsilon, t)
        return lr * factor, *weights(rule.beta1, rule.beta2), rule.epsilon, epsilon

    return elementwise(adabelief, ("m", "s"), scalars, CUDA, regrouped=True)
