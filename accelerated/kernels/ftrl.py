"""Follow the regularized leader."""

from __future__ import annotations

import math

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.reference.rules.ftrl import Ftrl

# One function for each way to raise to the power: a general power costs far more than memory does. For the same reason
# 1 / lr is prepared once: two divisions for each element would take longer than reading it.


def ftrl(
    w: Real, g: Real, s: Real, z: Real, per_lr: Real, l1: Real, twice_l2: Real, power: Real
) -> tuple[Real, Real, Real]:
    """``n = s + g²; z += g - (n^-p - s^-p) / lr w; w = (l1 sign(z) - z) / (n^-p / lr + 2 l2) if |z| > l1, else 0``."""
    n = s + g * g
    rate = n**power
    z = z + g - (rate - s**power) * per_lr * w
    w = (select(z > 0, l1, -l1) - z) / (rate * per_lr + twice_l2)
    return select(np.abs(z) > l1, w, 0.0), n, z


def ftrl_root(w: Real, g: Real, s: Real, z: Real, per_lr: Real, l1: Real, twice_l2: Real) -> tuple[Real, Real, Real]:
    """The same with ``lr_power = -0.5``."""
    n = s + g * g
    rate = np.sqrt(n)
    z = z + g - (rate - np.sqrt(s)) * per_lr * w
    w = (select(z > 0, l1, -l1) - z) / (rate * per_lr + twice_l2)
    return select(np.abs(z) > l1, w, 0.0), n, z


CUDA = """
    const real n = s + g * g, rate = power_of(n, power);
    z = z + g - (rate - power_of(s, power)) * per_lr * w;
    w = ((z > 0 ? l1 : -l1) - z) / (rate * per_lr + twice_l2);
    w = fabs(z) > l1 ? w : 0;
    s = n;
"""
ROOT_CUDA = """
    const real n = s + g * g, rate = sqrt(n);
    z = z + g - (rate - sqrt(s)) * per_lr * w;
    w = ((z > 0 ? l1 : -l1) - z) / (rate * per_lr + twice_l2);
    w = fabs(z) > l1 ? w : 0;
    s = n;
"""


def over(number: float, lr: float) -> float:
    """Return ``number / lr`` as arrays have it: infinite or NaN for a learning rate of 0, and no exception."""
    return number / lr if lr else number * math.copysign(math.inf, lr)


def kernel(rule: Ftrl) -> Kernel:
    """Return the kernel of FTRL."""
    is_root = rule.lr_power == -0.5
    function, cuda, power = (ftrl_root, ROOT_CUDA, ()) if is_root else (ftrl, CUDA, (-rule.lr_power,))
    scalars = lambda lr, t: (over(1, lr), rule.l1, 2 * rule.l2, *power)  # noqa: E731
    slots = ("squared_accum", "linear_accum")
    return elementwise(function, slots, scalars, cuda, regrouped=True)  # which multiplies by 1 / lr
