"""Nadam, as published: the formula of torch's, with a momentum that weighs the first moment, too."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.accelerated.kernels.moments import weights
from optimetry.accelerated.kernels.torch.nadam import CUDA, ahead, nadam
from optimetry.reference.books.papers.nadam import Nadam


def kernel(rule: Nadam) -> Kernel:
    """Return the kernel of Nadam; the product of its momenta follows from the number of the update."""
    look_ahead = ahead(rule.momentum, rule.nu, rule.epsilon)

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        of_m, of_g, epsilon = look_ahead(lr, t)
        return of_m, of_g, *weights(rule.momentum(t), rule.nu), epsilon, 1.0, 0.0, 1.0

    return elementwise(nadam, ("m", "n"), scalars, CUDA, regrouped=True)
