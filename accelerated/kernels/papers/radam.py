"""RAdam, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.moments import weights
from optimetry.accelerated.kernels.torch.radam import rectified
from optimetry.reference.books.papers.radam import RAdam


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
) -> tuple[Real, Real, Real]:
    """``m`` and ``v`` as in Adam; ``w -= lr_t m / √v`` if ``adaptive``, but where ``v`` is 0, else ``lr_t m``."""
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    root = select(adaptive > 0, np.sqrt(v), 1.0)
    return w - select(root != 0, lr_t * m / root, 0.0), m, v


CUDA = """
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    const real root = adaptive > 0 ? sqrt(v) : (real)1;
    w = w - (root != 0 ? lr_t * m / root : (real)0);
"""


def kernel(rule: RAdam) -> Kernel:
    """Return the kernel of RAdam, whose rectification is the same for all elements."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, adaptive = rectified(rule.beta1, rule.beta2, 4.0, t)
        return lr * factor, adaptive, *weights(rule.beta1, rule.beta2)

    return elementwise(radam, ("m", "v"), scalars, CUDA, regrouped=True)
