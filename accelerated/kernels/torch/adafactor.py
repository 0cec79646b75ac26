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
    measuring,
    select,
)
from optimetry.reference.books.torch.adafactor import Adafactor


def direction(g: Real, row: Real, column: Real, most: Real) -> tuple[Real]:
    """``u = g / max(√R √C, ε₁) = g min(1/√R 1/√C, 1/ε₁)``, whose squares are summed."""
    inverse = row * column
    return (g * select(inverse > most, most, inverse),)


def adafactor(w: Real, g: Real, row: Real, column: Real, rate: Real, decay: Real, most: Real) -> tuple[Real]:
    """``w -= d w + rate u``: the direction is computed again, which costs less than to keep it."""
    inverse = row * column
    return (w - decay * w - rate * (g * select(inverse > most, most, inverse)),)


DIRECTION_CUDA = """
    const real inverse = row * column;
    measured0 = g * (inverse > most ? most : inverse);
"""
CUDA = """
    const real inverse = row * column;
    w = w - decay * w - rate * (g * (inverse > most ? most : inverse));
"""
RATE = (
    "sign * (param_rms < eps2 ? eps2 : param_rms) * (lr > 1 / sqrt((double)t) ? 1 / sqrt((double)t) : lr)"
    " / (update_rms / d < 1 ? 1 : update_rms / d)"
)


def kernel(rule: Adafactor) -> Kernel:
    """Return the kernel of Adafactor: sums of rows and columns, the mean square of the update, then the update.

    An ε₁ whose inverse is not finite in the dtype of arithmetic, below 2.9e-39 in float32, is as 0.
    """
    sign, most = -1.0 if rule.maximize else 1.0, 1 / rule.eps1 if rule.eps1 else np.inf

    def scalars(lr: float, t: Real, param_rms: Real, grad_rms: Real, update_rms: Real) -> tuple[Real, ...]:
        scale = np.maximum(rule.eps2, param_rms) * np.minimum(lr, 1 / np.sqrt(t))
        return sign * scale / np.maximum(1.0, update_rms / rule.d), lr * rule.weight_decay, most

    rate = Rate(RATE, {"eps2": rule.eps2, "d": rule.d, "sign": sign})
    update = Pass(direction, (GRAD, ROW, COLUMN), (), lambda lr, t, *means: (most,), sums=1, cuda=DIRECTION_CUDA)
    step = Pass(adafactor, (PARAM, GRAD, ROW, COLUMN), (PARAM,), scalars, cuda=CUDA, rate=rate)
    factors = Factors("row_var", "col_var", "variance", lambda t: 1 - t**rule.beta2_decay, rule.eps1)
    return Kernel((measuring(PARAM, GRAD), update, step), regrouped=True, factors=factors)
