"""Adafactor, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import COLUMN, GRAD, PARAM, ROW, Factors, Kernel, Pass, Rate, Real
from optimetry.accelerated.kernels.torch.adafactor import CUDA, DIRECTION_CUDA, adafactor, direction
from optimetry.reference.books.papers.adafactor import Adafactor


def measured(w: Real, g: Real, eps1: Real) -> tuple[Real, Real]:
    """``w`` and ``√(g² + ε₁)``, whose squares are summed."""
    return w, np.sqrt(g * g + eps1)


MEASURED_CUDA = """
    measured0 = w;
    measured1 = sqrt(g * g + eps1);
"""
RATE = "(param_rms < eps2 ? eps2 : param_rms) * lr / (update_rms / d < 1 ? 1 : update_rms / d)"


def kernel(rule: Adafactor) -> Kernel:
    """Return the kernel of Adafactor: that of torch's without a decay, and with no least divisor."""
    most = np.inf

    def scalars(lr: float, t: Real, param_rms: Real, grad_rms: Real, update_rms: Real) -> tuple[Real, ...]:
        return np.maximum(rule.eps2, param_rms) * lr / np.maximum(1.0, update_rms / rule.d), 0.0, most

    measure = Pass(measured, (PARAM, GRAD), (), lambda lr, t: (rule.eps1,), MEASURED_CUDA, sums=2)
    update = Pass(direction, (GRAD, ROW, COLUMN), (), lambda lr, t, *means: (most,), sums=1, cuda=DIRECTION_CUDA)
    rate = Rate(RATE, {"eps2": rule.eps2, "d": rule.d})
    step = Pass(adafactor, (PARAM, GRAD, ROW, COLUMN), (PARAM,), scalars, cuda=CUDA, rate=rate)
    factors = Factors("rows", "columns", "v", lambda t: 1 - t**-rule.c, 0.0)
    return Kernel((measure, update, step), regrouped=True, factors=factors)
