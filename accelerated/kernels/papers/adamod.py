"""AdaMod, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.books.papers.adamod import AdaMod


def adamod(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    s: Real,
    lr_t: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    beta3: Real,
    rest3: Real,
    corrected_epsilon: Real,
    per: Real,
) -> tuple[Real, Real, Real, Real]:
    """``η = lr_t / (√v + ε'); s = β₃ s + (1 - β₃) η; w -= min(η, s) k m`` behind Adam's moments ``m`` and ``v``."""
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    rate = lr_t / (np.sqrt(v) + corrected_epsilon)
    s = beta3 * s + rest3 * rate
    return w - np.minimum(rate, s) * (per * m), m, v, s


CUDA = """
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    const real rate = lr_t / (sqrt(v) + corrected_epsilon);
    s = beta3 * s + rest3 * rate;
    w = w - (rate < s || rate != rate ? rate : s) * (per * m);  // NaN if either is, unlike fmin
"""


def kernel(rule: AdaMod) -> Kernel:
    """Return the kernel of AdaMod."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        root = float(np.sqrt(1 - rule.beta2**t))
        decays = (*weights(rule.beta1, rule.beta2), rule.beta3, 1 - rule.beta3)
        return lr * root, *decays, rule.epsilon * root, 1 / (1 - rule.beta1**t)

    return elementwise(adamod, ("m", "v", "s"), scalars, CUDA, regrouped=True)
