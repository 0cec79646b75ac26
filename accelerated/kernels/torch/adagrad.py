"""Adagrad of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.adagrad import Adagrad


def adagrad(w: Real, g: Real, s: Real, rate: Real, eps: Real, sign: Real, l2: Real) -> tuple[Real, Real]:
    """``g = sign g + l2 w; s += g²; w -= rate g / (√s + ε)``."""
    g = sign * g + l2 * w
    s = s + g * g
    return w - rate * g / (np.sqrt(s) + eps), s


CUDA = """
    g = sign * g + l2 * w;
    s = s + g * g;
    w = w - rate * g / (sqrt(s) + eps);
"""


def kernel(rule: Adagrad) -> Kernel:
    """Return the kernel of Adagrad, whose rate falls with the number of the update."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        return lr / (1 + (t - 1) * rule.lr_decay), rule.eps, sign_of(rule.maximize), rule.weight_decay

    return elementwise(adagrad, ("sum",), scalars, CUDA)
