"""NovoGrad, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Number, Pass, Rate, Real, measuring
from optimetry.reference.books.papers.novograd import NovoGrad


def novograd(w: Real, g: Real, m: Real, per_root: Real, lr: Real, beta1: Real, decay: Real) -> tuple[Real, Real]:
    """``m = β₁ m + (per_root g + d w); w -= lr m``."""
    m = beta1 * m + (per_root * g + decay * w)
    return w - lr * m, m


CUDA = """
    m = beta1 * m + (per_root * g + decay * w);
    w = w - lr * m;
"""
SQUARE = "t == 1 ? norm * norm : beta2 * before + (1 - beta2) * norm * norm"
RATE = "t > 1 ? 1 / (sqrt(v) + epsilon) : v != 0 ? 1 / sqrt(v) : 0"


def kernel(rule: NovoGrad) -> Kernel:
    """Return the kernel of NovoGrad: the norm, the second moment of the whole tensor, then the update."""

    def square(t: Real, norm: Real, before: Real) -> Real:
        return np.where(t == 1, norm * norm, rule.beta2 * before + (1 - rule.beta2) * norm * norm)

    def scalars(lr: float, t: Real, norm: Real, v: Real) -> tuple[Real, ...]:
        root = np.sqrt(v) + np.where(t == 1, 0.0, rule.epsilon)
        per_root = np.where((t == 1) & (v == 0), 0.0, 1 / root)
        return per_root, lr, rule.beta1, rule.weight_decay

    rate = Rate(RATE, {"beta2": rule.beta2, "epsilon": rule.epsilon})
    moments, number = (PARAM, GRAD, "m"), Number("v", square, SQUARE)
    update = Pass(novograd, moments, (PARAM, "m"), scalars, cuda=CUDA, rate=rate, number=number)
    return Kernel((measuring(GRAD), update))
