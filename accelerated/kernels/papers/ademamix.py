"""AdEMAMix, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import corrected
from optimetry.reference.books.papers.ademamix import AdEMAMix


def ademamix(
    w: Real,
    g: Real,
    m1: Real,
    m2: Real,
    v: Real,
    fast: Real,
    slow: Real,
    beta1: Real,
    rest1: Real,
    beta3: Real,
    rest3: Real,
    beta2: Real,
    rest2: Real,
    corrected_epsilon: Real,
    decay: Real,
) -> tuple[Real, Real, Real, Real]:
    """Average ``g`` twice and ``g²`` once; ``w -= (fast m₁ + slow m₂) / (√v + ε') + decay w``."""
    m1 = beta1 * m1 + rest1 * g
    m2 = beta3 * m2 + rest3 * g
    v = beta2 * v + rest2 * (g * g)
    return w - ((fast * m1 + slow * m2) / (np.sqrt(v) + corrected_epsilon) + decay * w), m1, m2, v


CUDA = """
    m1 = beta1 * m1 + rest1 * g;
    m2 = beta3 * m2 + rest3 * g;
    v = beta2 * v + rest2 * (g * g);
    w = w - ((fast * m1 + slow * m2) / (sqrt(v) + corrected_epsilon) + decay * w);
"""


def kernel(rule: AdEMAMix) -> Kernel:
    """Return the kernel of AdEMAMix; the correction of the second moment is in the weights of both averages."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, epsilon = corrected(rule.beta1, rule.beta2, rule.epsilon, t)
        rates = lr * factor, lr * rule.alpha * float(np.sqrt(1 - rule.beta2**t))
        decays = (share for beta in (rule.beta1, rule.beta3, rule.beta2) for share in (beta, 1 - beta))
        return *rates, *decays, epsilon, lr * rule.weight_decay

    return elementwise(ademamix, ("m1", "m2", "nu"), scalars, CUDA, regrouped=True)
