"""Momentum with layer-wise adaptive rate scaling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass, Rate, Real, measuring
from optimetry.reference.rules.lars_momentum import LarsMomentum


def lars_momentum(w: Real, g: Real, v: Real, local_lr: Real, mu: Real, decay: Real) -> tuple[Real, Real]:
    """``v = μ v + local_lr (g + λ w); w -= v``."""
    v = mu * v + local_lr * (g + decay * w)
    return w - v, v


CUDA = """
    v = mu * v + local_lr * (g + decay * w);
    w = w - v;
"""
RATE = "param_norm > 0 && grad_norm > 0 ? lr * coeff * param_norm / (grad_norm + decay * param_norm) : lr"


def kernel(rule: LarsMomentum) -> Kernel:
    """Return the kernel of LARS with momentum, whose rate is not local where a norm is zero."""

    def local_lr(lr: float, param_norm: Real, grad_norm: Real) -> Real:
        scaled = lr * rule.lars_coeff * param_norm / (grad_norm + rule.lars_weight_decay * param_norm)
        return np.where((param_norm > 0) & (grad_norm > 0), scaled, lr)

    rate = Rate(RATE, {"coeff": rule.lars_coeff, "decay": rule.lars_weight_decay})
    return lars_of("velocity", rule.momentum, rule.lars_weight_decay, local_lr, rate)


def lars_of(
    velocity: str, momentum: float, decay: float, local_lr: Callable[[float, Real, Real], Real], rate: Rate
) -> Kernel:
    """Return a kernel of LARS: both norms, then the update.

    Args:
        velocity: the name of the slot.
        momentum: the share of it that is kept.
        decay: the weight decay.
        local_lr: returns the local rate, given the learning rate and the norms of parameter and gradient.
        rate: the same in CUDA C++.
    """

    def scalars(lr: float, t: Real, param_norm: Real, grad_norm: Real) -> tuple[Real, ...]:
        return local_lr(lr, param_norm, grad_norm), momentum, decay

    update = Pass(lars_momentum, (PARAM, GRAD, velocity), (PARAM, velocity), scalars, cuda=CUDA, rate=rate)
    return Kernel((measuring(PARAM, GRAD), update))
