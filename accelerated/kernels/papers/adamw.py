"""AdamW, as published: the formula of torch's, whose decay is not multiplied by the learning rate."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, elementwise
from optimetry.accelerated.kernels.moments import corrected, weights
from optimetry.accelerated.kernels.torch.adam import CUDA, adam
from optimetry.reference.books.papers.adamw import AdamW


def kernel(rule: AdamW) -> Kernel:
    """Return the kernel of AdamW."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        factor, epsilon = corrected(rule.beta1, rule.beta2, rule.epsilon, t)
        return lr * factor, *weights(rule.beta1, rule.beta2), epsilon, 1.0, 0.0, 1 - rule.weight_decay

    return elementwise(adam, ("m", "v"), scalars, CUDA, regrouped=True)
