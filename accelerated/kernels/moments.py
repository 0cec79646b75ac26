"""The scalars of Adam's two moments, and of the corrections that make up for their start at zero."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Real


def weights(beta1: float, beta2: float) -> tuple[float, float, float, float]:
    """Return both decays, each with the weight of the new: the arguments ``beta1, rest1, beta2, rest2``."""
    return beta1, 1 - beta1, beta2, 1 - beta2


def corrected(beta1: float, beta2: float, epsilon: float, t: Real) -> tuple[Real, Real]:
    """Return ``k`` and ``ε'`` so that ``k m / (√v + ε')`` is ``m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) + ε)``."""
    root = np.sqrt(1 - beta2**t)
    return root / (1 - beta1**t), epsilon * root
