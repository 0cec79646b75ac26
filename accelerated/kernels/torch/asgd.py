"""ASGD of torch.optim: averaged stochastic gradient descent."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.asgd import ASGD


def asgd(
    w: Real, g: Real, eta: Real, a: Real, first: Real, after: Real, mu: Real, lambd: Real, sign: Real, l2: Real
) -> tuple[Real, Real, Real]:
    """``g = sign g + l2 w; w -= η (λ w + g); a += mu (w - a)``; then ``η = after``."""
    g = sign * g + l2 * w
    eta = eta + first
    w = w - eta * (lambd * w + g)
    return w, after, a + mu * (w - a)


CUDA = """
    g = sign * g + l2 * w;
    eta = eta + first;
    w = w - eta * (lambd * w + g);
    a = a + mu * (w - a);
    eta = after;
"""


def kernel(rule: ASGD) -> Kernel:
    """Return the kernel of ASGD; eta, a number that follows from the rate of the step before, fills an array."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        with np.errstate(all="ignore"):  # a rate below 0 may lead to a root of a number below 0, which is NaN
            after = float(lr / np.float64(1 + rule.lambd * lr * t) ** rule.alpha)
        mu = 1 / max(1.0, t - 1 - rule.t0)
        return lr if t == 1 else 0.0, after, mu, rule.lambd, sign_of(rule.maximize), rule.weight_decay

    return elementwise(asgd, ("eta", "ax"), scalars, CUDA, regrouped=True)
