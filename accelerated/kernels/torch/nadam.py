"""NAdam of torch.optim."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.accelerated.kernels.torch.decay import decay_of
from optimetry.reference.books.torch.nadam import NAdam


def nadam(
    w: Real,
    g: Real,
    m: Real,
    v: Real,
    of_m: Real,
    of_g: Real,
    beta1: Real,
    rest1: Real,
    beta2: Real,
    rest2: Real,
    eps: Real,
    sign: Real,
    l2: Real,
    keep: Real,
) -> tuple[Real, Real, Real]:
    """``g``, ``m`` and ``v`` as in Adam; ``w = keep w - (of_m m + of_g g) / (√v + ε)``."""
    g = sign * g + l2 * w
    m = beta1 * m + rest1 * g
    v = beta2 * v + rest2 * (g * g)
    return keep * w - (of_m * m + of_g * g) / (np.sqrt(v) + eps), m, v


CUDA = """
    g = sign * g + l2 * w;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    w = keep * w - (of_m * m + of_g * g) / (sqrt(v) + eps);
"""


def kernel(rule: NAdam) -> Kernel:
    """Return the kernel of NAdam."""
    look_ahead = ahead(rule.mu, rule.beta2, rule.eps)

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        of_m, of_g, eps = look_ahead(lr, t)
        return of_m, of_g, *weights(rule.beta1, rule.beta2), eps, *decay_of(rule, lr)

    return elementwise(nadam, ("exp_avg", "exp_avg_sq"), scalars, CUDA, regrouped=True)


def ahead(
    momentum: Callable[[int], float], beta2: float, eps: float
) -> Callable[[float, int], tuple[float, float, float]]:
    """Return the function that gives the arguments ``of_m, of_g`` and ``eps`` for a learning rate and an update.

    The product of the momenta, which the document has as state, follows from the number of the update.
    """
    products = [1.0]  # of the momenta of the first updates: none, one, two, ...

    def arguments(lr: float, t: int) -> tuple[float, float, float]:
        while len(products) <= t + 1:
            products.append(products[-1] * momentum(len(products)))
        root = math.sqrt(1 - beta2**t)
        of_m = lr * root * momentum(t + 1) / (1 - products[t + 1])
        of_g = lr * root * (1 - momentum(t)) / (1 - products[t])
        return of_m, of_g, eps * root

    return arguments
