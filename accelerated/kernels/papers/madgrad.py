"""MADGRAD, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass, Real, select
from optimetry.reference.books.papers.madgrad import MADGRAD


def madgrad(
    w: Real, g: Real, s: Real, v: Real, x: Real, weight: Real, c: Real, rest: Real, epsilon: Real, third: Real
) -> tuple[Real, Real, Real]:
    """``s += k g; v += k g²; w = (1 - c) w + c (x - s / (∛v + ε))``."""
    s = s + weight * g
    v = v + weight * (g * g)
    size = np.abs(v) ** third
    return rest * w + c * (x - s / (select(v < 0, -size, size) + epsilon)), s, v


CUDA = """
    s = s + weight * g;
    v = v + weight * (g * g);
    const real size = power_of(fabs(v), third);
    w = rest * w + c * (x - s / ((v < 0 ? -size : size) + epsilon));
"""


def kernel(rule: MADGRAD) -> Kernel:
    """Return the kernel of MADGRAD."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        return lr * t**0.5, rule.c, 1 - rule.c, rule.epsilon, 1 / 3

    sums = ("s", "nu")
    pass_ = Pass(madgrad, (PARAM, GRAD, *sums, "x0"), (PARAM, *sums), scalars, CUDA)
    return Kernel((pass_,), regrouped=True)  # whose power takes a third of the time of a cube root in machine code
