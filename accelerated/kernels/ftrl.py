"""Follow the regularized leader."""

from __future__ import annotations

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


def ftrl_root(
    w: Real, g: Real, s: Real, z: Real, per_lr: Real, l1: Real, twice_l2: Real, power: Real
) -> tuple[Real, Real, Real]:
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


def kernel(rule: Ftrl) -> Kernel:
    """Return the kernel of FTRL."""
    function, cuda = (ftrl_root, ROOT_CUDA) if rule.lr_power == -0.5 else (ftrl, CUDA)
    slots = ("squared_accum", "linear_accum")
    scalars = lambda lr, t: (1 / lr, rule.l1, 2 * rule.l2, -rule.lr_power)  # noqa: E731
    return elementwise(function, slots, scalars, cuda, regrouped=True)  # which multiplies by 1 / lr
