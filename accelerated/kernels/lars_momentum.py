"""Momentum with layer-wise adaptive rate scaling."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass, Rate, Real
from optimetry.reference.rules.lars_momentum import LarsMomentum


def lars_terms(w: Real, g: Real) -> tuple[Real, Real]:
    """``w`` and ``g``, whose norms are measured."""
    return w, g


def lars_momentum(w: Real, g: Real, v: Real, local_lr: Real, mu: Real, decay: Real) -> tuple[Real, Real]:
    """``v = μ v + local_lr (g + λ w); w -= v``."""
    v = mu * v + local_lr * (g + decay * w)
    return w - v, v


TERMS_CUDA = """
    measured0 = w;
    measured1 = g;
"""
CUDA = """
    v = mu * v + local_lr * (g + decay * w);
    w = w - v;
"""
RATE = "param_norm > 0 && grad_norm > 0 ? lr * coeff * param_norm / (grad_norm + decay * param_norm) : lr"


def kernel(rule: LarsMomentum) -> Kernel:
    """Return the kernel of LARS: both norms, then the update."""

    def scalars(lr: float, t: Real, param_norm: Real, grad_norm: Real) -> tuple[Real, ...]:
        scaled = lr * rule.lars_coeff * param_norm / (grad_norm + rule.lars_weight_decay * param_norm)
        local_lr = np.where((param_norm > 0) & (grad_norm > 0), scaled, lr)
        return local_lr, rule.momentum, rule.lars_weight_decay

    rate = Rate(RATE, {"coeff": rule.lars_coeff, "decay": rule.lars_weight_decay})
    measure = Pass(lars_terms, (PARAM, GRAD), (), lambda lr, t: (), sums=2, cuda=TERMS_CUDA)
    update = Pass(lars_momentum, (PARAM, GRAD, "velocity"), (PARAM, "velocity"), scalars, cuda=CUDA, rate=rate)
    return Kernel((measure, update))
