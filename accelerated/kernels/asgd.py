"""Stochastic average gradient, which Paddle names ASGD."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.asgd import ASGD


def asgd(w: Real, g: Real, d: Real, y: Real, lr: Real, batches: Real, decay: Real) -> tuple[Real, Real, Real]:
    """``d += g - y; y = g; w -= lr λ w; w -= lr (d / min(m + 1, n))``, ``y`` of this batch, ``decay`` = lr λ."""
    d = d + (g - y)
    return w - decay * w - lr * (d / batches), d, g


CUDA = """
    d = d + (g - y);
    w = w - decay * w - lr * (d / batches);
    y = g;
"""


def kernel(rule: ASGD) -> Kernel:
    """Return the kernel of ASGD; of its history only this batch's gradient is read and written."""
    scalars = lambda lr, t: (lr, min(t, rule.batch_num), lr * rule.weight_decay)  # noqa: E731
    return elementwise(asgd, ("d", "history"), scalars, CUDA, ring="history")
