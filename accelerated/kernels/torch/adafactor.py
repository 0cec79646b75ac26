"""Adafactor of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import (
    COLUMN,
    GRAD,
    PARAM,
    ROW,
    Factors,
    Kernel,
    Pass,
    Rate,
    Real,
    select,
)
from optimetry.reference.books.torch.adafactor import Adafactor


def measured(w: Real, g: Real) -> tuple[Real, Real]:
    """``w`` and ``g``, whose squares are summed."""
    return w, g


def direction(g: Real, row: Real, column: Real, least: Real) -> tuple[Real]:
    """``u = g / max(√(R C), ε₁)``, whose squares are summed."""
    root = np.sqrt(row * column)
    return (g / select(root < least, least, root),)


def adafactor(w: Real, g: Real, row: Real, column: Real, rate: Real, decay: Real, least: Real) -> tuple[Real]:
    """``w -= d w + rate u``: the direction is computed again, which costs less than to keep it."""
    root = np.sqrt(row * column)
    return (w - decay * w - rate * (g / select(root < least, least, root)),)


MEASURED_CUDA = """
    measured0 = w;
    measured1 = g;
"""
DIRECTION_CUDA = """
    const real root = sqrt(row * column);
    measured0 = g / (root < least ? least : root);
"""
CUDA = """
    const real root = sqrt(row * column);
    w = w - decay * w - rate * (g / (root < least ? least : root));
"""
RATE = (
    "sign * (param_rms < eps2 ? eps2 : param_rms) * (lr > 1 / sqrt((double)t) ? 1 / sqrt((double)t) : lr)"
    " / (update_rms / d < 1 ? 1 : update_rms / d)"
)


def kernel(rule: Adafactor) -> Kernel:
    """Return the kernel of Adafactor: sums of rows and columns, the mean square of the update, then the update."""
    sign = -1.0 if rule.maximize else 1.0

    def scalars(lr: float, t: Real, param_rms: Real, grad_rms: Real, update_rms: Real) -> tuple[Real, ...]:
        scale = np.maximum(rule.eps2, param_rms) * np.minimum(lr, 1 / np.sqrt(t))
        return sign * scale / np.maximum(1.0, update_rms / rule.d), lr * rule.weight_decay, rule.eps1

    rate = Rate(RATE, {"eps2": rule.eps2, "d": rule.d, "sign": sign})
    moments = Pass(measured, (PARAM, GRAD), (), lambda lr, t: (), sums=2, cuda=MEASURED_CUDA)
    update = Pass(direction, (GRAD, ROW, COLUMN), (), lambda lr, t, *means: (rule.eps1,), sums=1, cuda=DIRECTION_CUDA)
    step = Pass(adafactor, (PARAM, GRAD, ROW, COLUMN), (PARAM,), scalars, cuda=CUDA, rate=rate)
    factors = Factors("row_var", "col_var", "variance", lambda t: 1 - t**rule.beta2_decay, rule.eps1)
    return Kernel((moments, update, step), factors=factors)
