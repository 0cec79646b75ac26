"""NAdam of torch.optim."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.accelerated.kernels.torch.decay import decay_of
from optimetry.reference.books.torch.nadam import NAdam

KEPT = 256
"""How many products of momenta are remembered: parameters that miss gradients are at other updates."""

LOST = 2.0**-60
"""``1 - x`` is 1 for every x up to this."""


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
    product = product_of_first(momentum)

    def arguments(lr: float, t: int) -> tuple[float, float, float]:
        root = math.sqrt(1 - beta2**t)
        of_m = lr * root * momentum(t + 1) / (1 - product(t + 1))
        of_g = lr * root * (1 - momentum(t)) / (1 - product(t))
        return of_m, of_g, eps * root

    return arguments


def product_of_first(momentum: Callable[[int], float]) -> Callable[[int], float]:
    """Return the function of n that multiplies the momenta of the first n updates, from the first on.

    It goes on from the nearest of the latest `KEPT` products, so a step costs one of them however long training is.
    Momenta are below 1: a product that is `LOST` beside 1 is returned as it is, whatever n.
    """
    products = {0: 1.0}

    def product(n: int) -> float:
        if n not in products:
            at = max(known for known in products if known < n)
            value = products[at]
            while at < n and value > LOST:
                at += 1
                value *= momentum(at)
            if len(products) > KEPT:
                del products[next(known for known in products if known)]  # the oldest but for the empty product
            products[n] = value
        return products[n]

    return product
