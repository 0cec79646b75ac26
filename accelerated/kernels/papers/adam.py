"""Adam, as published: fluid's formula, with a corrected epsilon."""

from __future__ import annotations

from optimetry.accelerated.kernels.adam import CUDA, adam
from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.accelerated.kernels.moments import corrected, weights
from optimetry.reference.books.papers.adam import Adam


def kernel(rule: Adam) -> Kernel:
    """Return the kernel of Adam."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, epsilon = corrected(rule.beta1, rule.beta2, rule.epsilon, t)
        return lr * factor, *weights(rule.beta1, rule.beta2), epsilon

    return elementwise(adam, ("m", "v"), scalars, CUDA, regrouped=True)
