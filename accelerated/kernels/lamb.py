"""LAMB."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass, Rate, Real
from optimetry.accelerated.kernels.moments import weights
from optimetry.reference.rules.lamb import Lamb


def lamb_moments(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    factor: Real,
    epsilon: Real,
    decay: Real,
) -> tuple[Real, Real, Real, Real]:
    """``m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; q = k m / (√v + ε) + λ w``: moments; norms of ``w``, ``q``."""
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    return w, factor * m / (np.sqrt(v) + epsilon) + decay * w, m, v


def lamb(w: Real, m: Real, v: Real, rate: Real, factor: Real, epsilon: Real, decay: Real) -> tuple[Real]:
    """``w -= rate q``: the direction is computed again, which costs less than to keep it."""
    return (w - rate * (factor * m / (np.sqrt(v) + epsilon) + decay * w),)


MOMENTS_CUDA = """
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    measured0 = w;
    measured1 = factor * m / (sqrt(v) + epsilon) + decay * w;
"""
CUDA = """
    w = w - rate * (factor * m / (sqrt(v) + epsilon) + decay * w);
"""
RATE = "lr * (param_norm > 0 && direction_norm > 0 ? param_norm / direction_norm : 1)"


def kernel(rule: Lamb) -> Kernel:
    """Return the kernel of LAMB, whose moments are not corrected."""
    decays = weights(rule.beta1, rule.beta2)
    return lamb_of(("moment1", "moment2"), decays, lambda t: (1.0, rule.epsilon), rule.lamb_weight_decay)


def lamb_of(
    moments: tuple[str, str],
    decays: tuple[float, ...],
    factor_and_epsilon: Callable[[Real], tuple[Real, Real]],
    weight_decay: float,
) -> Kernel:
    """Return a kernel of LAMB: moments and norms, then the update.

    Args:
        moments: the names of both slots.
        decays: their `weights`.
        factor_and_epsilon: what update ``t`` multiplies the first moment by, and adds to the root of the second.
        weight_decay: the share of the parameter in the direction.
    """

    def measuring(lr: float, t: int) -> tuple[Real, ...]:
        return *decays, *factor_and_epsilon(t), weight_decay

    def scalars(lr: float, t: Real, param_norm: Real, direction_norm: Real) -> tuple[Real, ...]:
        ratio = np.where((param_norm > 0) & (direction_norm > 0), param_norm / direction_norm, 1.0)
        return lr * ratio, *factor_and_epsilon(t), weight_decay

    measure = Pass(lamb_moments, (PARAM, GRAD, *moments), moments, measuring, sums=2, cuda=MOMENTS_CUDA)
    return Kernel((measure, Pass(lamb, (PARAM, *moments), (PARAM,), scalars, cuda=CUDA, rate=Rate(RATE))))
