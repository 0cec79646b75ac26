"""LARS, as published: fluid's, with another local rate where a norm is zero."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Rate, Real
from optimetry.accelerated.kernels.lars_momentum import lars_of
from optimetry.reference.books.papers.lars import LARS

RATE = """grad_norm + decay * param_norm != 0 ? lr * eta * param_norm / (grad_norm + decay * param_norm) : 0"""


def kernel(rule: LARS) -> Kernel:
    """Return the kernel of LARS."""

    def local_lr(lr: float, param_norm: Real, grad_norm: Real) -> Real:
        below = grad_norm + rule.weight_decay * param_norm
        return np.where(below != 0, lr * rule.eta * param_norm / below, 0.0)

    rate = Rate(RATE, {"eta": rule.eta, "decay": rule.weight_decay})
    return lars_of("v", rule.momentum, rule.weight_decay, local_lr, rate)
