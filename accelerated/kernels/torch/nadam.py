"""NAdam of torch.optim."""

from __future__ import annotations

import math

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.torch.decay import decay_of
from optimetry.reference.books.torch.nadam import NAdam


def nadam(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    of_m: Real,
    of_g: Real,
    scale: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    eps: Real,
    sign: Real,
    l2: Real,
    keep: Real,
) -> tuple[Real, Real, Real]:
    """``g``, ``m`` and ``v`` as in Adam; ``w = keep w - (of_m m + of_g g) / (scale √v + ε)``."""
    g = sign * g + l2 * w
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    return keep * w - (of_m * m + of_g * g) / (scale * np.sqrt(v) + eps), m, v


CUDA = """
    g = sign * g + l2 * w;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    w = keep * w - (of_m * m + of_g * g) / (scale * sqrt(v) + eps);
"""


def kernel(rule: NAdam) -> Kernel:
    """Return the kernel of NAdam; the product of its momenta follows from the number of the update."""
    products = [1.0]  # of the momenta of the first updates: none, one, two, ...

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        while len(products) <= t + 1:
            products.append(products[-1] * rule.mu(len(products)))
        of_m = lr * rule.mu(t + 1) / (1 - products[t + 1])
        of_g = lr * (1 - rule.mu(t)) / (1 - products[t])
        scale = 1 / math.sqrt(1 - rule.beta2**t)
        decays = rule.beta1, 1 - rule.beta1, rule.beta2, 1 - rule.beta2
        return of_m, of_g, scale, *decays, rule.eps, *decay_of(rule, lr)

    return elementwise(nadam, ("exp_avg", "exp_avg_sq"), scalars, CUDA, regrouped=True)
