"""Signum, as published: Lion with one decay for the step and the state."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.accelerated.kernels.papers.lion import CUDA, lion
from optimetry.reference.books.papers.signum import Signum


def kernel(rule: Signum) -> Kernel:
    """Return the kernel of Signum."""
    return elementwise(lion, ("m",), lambda lr, t: (lr, *weights(rule.beta, rule.beta), 0.0), CUDA)
