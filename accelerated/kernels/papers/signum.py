"""Signum, as published."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.books.papers.signum import Signum


def signum(w: Real, g: Real, m: Real, lr: Real, beta: Real, rest: Real) -> tuple[Real, Real]:
    """``m = β m + (1 - β) g; w -= lr sign(m)``."""
    m = beta * m + rest * g
    return w - lr * np.sign(m), m


CUDA = """
    m = beta * m + rest * g;
    w = w - lr * (m > 0 ? (real)1 : m < 0 ? (real)-1 : m);
"""


def kernel(rule: Signum) -> Kernel:
    """Return the kernel of Signum."""
    return elementwise(signum, ("m",), lambda lr, t: (lr, rule.beta, 1 - rule.beta), CUDA)
