"""QHM, as published."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.books.papers.qhm import QHM


def qhm(w: Real, g: Real, m: Real, lr: Real, beta: Real, rest: Real, share: Real, direct: Real) -> tuple[Real, Real]:
    """``m = β m + (1 - β) g; w -= lr ((1 - ν) g + ν m)``."""
    m = beta * m + rest * g
    return w - lr * (direct * g + share * m), m


CUDA = """
    m = beta * m + rest * g;
    w = w - lr * (direct * g + share * m);
"""


def kernel(rule: QHM) -> Kernel:
    """Return the kernel of QHM."""
    return elementwise(qhm, ("m",), lambda lr, t: (lr, rule.beta, 1 - rule.beta, rule.nu, 1 - rule.nu), CUDA)
