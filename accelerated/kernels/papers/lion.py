"""Lion, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.books.papers.lion import Lion


def lion(
    w: Real, g: Real, m: Real, lr: Real, beta1: Real, rest1: Real, beta2: Real, rest2: Real, decay: Real
) -> tuple[Real, Real]:
    """``w -= lr λ w; w -= lr sign(β₁ m + (1 - β₁) g); m = β₂ m + (1 - β₂) g``, where ``decay`` is ``lr λ``."""
    average = beta1 * m + rest1 * g
    return w - decay * w - lr * np.sign(average), beta2 * m + rest2 * g


CUDA = """
    const real average = beta1 * m + rest1 * g;
    w = w - decay * w - lr * (average > 0 ? (real)1 : average < 0 ? (real)-1 : average);
    m = beta2 * m + rest2 * g;
"""


def kernel(rule: Lion) -> Kernel:
    """Return the kernel of Lion."""
    scalars = lambda lr, t: (lr, *weights(rule.beta1, rule.beta2), lr * rule.weight_decay)  # noqa: E731
    return elementwise(lion, ("m",), scalars, CUDA)
