"""RAdam of torch.optim."""

from __future__ import annotations

import math

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.moments import weights
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

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, adaptive = rectified(rule.beta1, rule.beta2, 5.0, t)
        return lr * factor, adaptive, *weights(rule.beta1, rule.beta2), rule.eps, *decay_of(rule, lr)

    return elementwise(radam, ("exp_avg", "exp_avg_sq"), scalars, CUDA, regrouped=True)


def rectified(beta1: float, beta2: float, threshold: float, t: int) -> tuple[float, float]:
    """Return the factor of a step, and whether the first moment is divided by the root of the second, as 1 or 0.

    Args:
        beta1: decay of the first moment.
        beta2: decay of the second moment.
        threshold: the length of the average above which its variance is known.
        t: the number of the update.
    """
    longest = 2 / (1 - beta2) - 1
    correction, factor = 1 - beta2**t, 1 / (1 - beta1**t)
    length = longest - 2 * t * beta2**t / correction
    if length <= threshold:
        return factor, 0.0
    rectification = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return factor * math.sqrt(rectification * correction), 1.0
