"""Decayed Adagrad."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.reference.rules.decayed_adagrad import DecayedAdagrad


def decayed_adagrad(w: Real, g: Real, m: Real, lr: Real, decay: Real, rest: Real, epsilon: Real) -> tuple[Real, Real]:
    """``m = decay m + (1 - decay) g²; w -= lr g / (√m + ε)``."""
    m = decay * m + rest * (g * g)
    return w - lr * g / (np.sqrt(m) + epsilon), m


CUDA = """
    m = decay * m + rest * (g * g);
    w = w - lr * g / (sqrt(m) + epsilon);
"""


def kernel(rule: DecayedAdagrad) -> Kernel:
    """Return the kernel of decayed Adagrad."""
    scalars = lambda lr, t: (lr, rule.decay, 1 - rule.decay, rule.epsilon)  # noqa: E731
    return elementwise(decayed_adagrad, ("moment",), scalars, CUDA)
