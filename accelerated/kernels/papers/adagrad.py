"""AdaGrad, as published: fluid's Adagrad."""

from __future__ import annotations

from optimetry.accelerated.kernels.adagrad import CUDA, adagrad
from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.reference.books.papers.adagrad import AdaGrad


def kernel(rule: AdaGrad) -> Kernel:
    """Return the kernel of AdaGrad."""
    return elementwise(adagrad, ("s",), lambda lr, t: (lr, rule.delta), CUDA)
