"""FTRL-Proximal, as published: fluid's formula with a root, where beta is part of the L2 penalty."""

from __future__ import annotations

from optimetry.accelerated.kernels.ftrl import ROOT_CUDA, ftrl_root, over
from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.reference.books.papers.ftrl import FTRL


def kernel(rule: FTRL) -> Kernel:
    """Return the kernel of FTRL-Proximal."""
    scalars = lambda lr, t: (over(1, lr), rule.lambda1, over(rule.beta, lr) + rule.lambda2)  # noqa: E731
    return elementwise(ftrl_root, ("n", "z"), scalars, ROOT_CUDA, regrouped=True)
