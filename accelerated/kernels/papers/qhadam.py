"""QHAdam, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.books.papers.qhadam import QHAdam


def qhadam(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    lr: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    direct1: Real,
    share1: Real,
    direct2: Real,
    share2: Real,
    epsilon: Real,
) -> tuple[Real, Real, Real]:
    """``w -= lr (k g + k' m) / (√(l g² + l' v) + ε)`` behind Adam's moments ``m`` and ``v``."""
    square = g * g
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * square
    return w - lr * (direct1 * g + share1 * m) / (np.sqrt(direct2 * square + share2 * v) + epsilon), m, v


CUDA = """
    const real square = g * g;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * square;
    w = w - lr * (direct1 * g + share1 * m) / (sqrt(direct2 * square + share2 * v) + epsilon);
"""


def kernel(rule: QHAdam) -> Kernel:
    """Return the kernel of QHAdam; the shares of the moments contain their corrections."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        first = 1 - rule.nu1, rule.nu1 / (1 - rule.beta1**t)
        second = 1 - rule.nu2, rule.nu2 / (1 - rule.beta2**t)
        return lr, *weights(rule.beta1, rule.beta2), *first, *second, rule.epsilon

    return elementwise(qhadam, ("m", "v"), scalars, CUDA, regrouped=True)
