"""Rprop of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.rprop import Rprop


def rprop(
    w: Real,
    g: Real,
    p: Real,
    s: Real,
    first: Real,
    minus: Real,
    plus: Real,
    smallest: Real,
    largest: Real,
    sign: Real,
) -> tuple[Real, Real, Real]:
    """Grow ``s`` where ``p g > 0``; shrink ``s`` and forget ``g`` where ``p g < 0``; ``w -= s sign(g); p = g``."""
    g = sign * g
    s = s + first
    product = p * g
    grown, shrunk = s * plus, s * minus
    smaller = select(product < 0, select(shrunk < smallest, smallest, shrunk), s)
    s = select(product > 0, select(grown > largest, largest, grown), smaller)
    g = select(np.logical_not(product < 0), g, 0.0)
    return w - s * np.sign(g), g, s


CUDA = """
    g = sign * g;
    s = s + first;
    const real product = p * g, grown = s * plus, shrunk = s * minus;
    if (product > 0) s = grown > largest ? largest : grown;
    if (product < 0) s = shrunk < smallest ? smallest : shrunk;
    if (product < 0) g = 0;
    p = g;
    w = w - s * (g > 0 ? (real)1 : g < 0 ? (real)-1 : g);
"""


def kernel(rule: Rprop) -> Kernel:
    """Return the kernel of Rprop, whose first step size is the learning rate of the first update."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        limits = rule.step_size_min, rule.step_size_max
        return lr if t == 1 else 0.0, rule.etaminus, rule.etaplus, *limits, sign_of(rule.maximize)

    return elementwise(rprop, ("prev", "step_size"), scalars, CUDA)
