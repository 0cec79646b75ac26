"""RAdam of torch.optim."""

from __future__ import annotations

import math

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.torch.decay import decay_of
from optimetry.reference.books.torch.radam import RAdam


def radam(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    lr_t: Real,
    adaptive: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    eps: Real,
    sign: Real,
    l2: Real,
    keep: Real,
) -> tuple[Real, Real, Real]:
    """``g``, ``m`` and ``v`` as in Adam; ``w = keep w - lr_t m / (√v + ε)`` if ``adaptive``, else ``- lr_t m``."""
    g = sign * g + l2 * w
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    root = select(adaptive > 0, np.sqrt(v) + eps, 1.0)
    return keep * w - lr_t * m / root, m, v


CUDA = """
    g = sign * g + l2 * w;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    w = keep * w - lr_t * m / (adaptive > 0 ? sqrt(v) + eps : (real)1);
"""


def kernel(rule: RAdam) -> Kernel:
    """Return the kernel of RAdam, whose rectification is the same for all elements."""
    longest = 2 / (1 - rule.beta2) - 1

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        correction = 1 - rule.beta2**t
        length = longest - 2 * t * rule.beta2**t / correction
        adaptive, rate = length > 5, lr / (1 - rule.beta1**t)
        if adaptive:
            rectified = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            rate *= math.sqrt(rectified * correction)
        decays = rule.beta1, 1 - rule.beta1, rule.beta2, 1 - rule.beta2
        return rate, float(adaptive), *decays, rule.eps, *decay_of(rule, lr)

    return elementwise(radam, ("exp_avg", "exp_avg_sq"), scalars, CUDA, regrouped=True)
