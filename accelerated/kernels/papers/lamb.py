"""LAMB, as published: fluid's, with corrected moments."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.kernels.lamb import lamb_of
from optimetry.accelerated.kernels.moments import corrected, weights
from optimetry.reference.books.papers.lamb import LAMB


def kernel(rule: LAMB) -> Kernel:
    """Return the kernel of LAMB."""
    return lamb_of(
        ("m", "v"),
        weights(rule.beta1, rule.beta2),
        lambda t: corrected(rule.beta1, rule.beta2, rule.epsilon, t),
        rule.weight_decay,
    )
