"""ADADELTA, as published: the formula of torch's, without a decay."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.accelerated.kernels.torch.adadelta import CUDA, adadelta
from optimetry.reference.books.papers.adadelta import ADADELTA


def kernel(rule: ADADELTA) -> Kernel:
    """Return the kernel of ADADELTA."""
    scalars = lambda lr, t: (lr, rule.rho, 1 - rule.rho, rule.epsilon, 1.0, 0.0)  # noqa: E731
    return elementwise(adadelta, ("mean_square_grad", "mean_square_step"), scalars, CUDA)
