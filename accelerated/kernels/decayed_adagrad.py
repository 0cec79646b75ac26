"""Decayed Adagrad."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Number, elementwise
from optimetry.reference.rules.decayed_adagrad import DecayedAdagrad


def decayed_adagrad(
    w: Number, g: Number, m: Number, lr: Number, decay: Number, rest: Number, epsilon: Number
) -> tuple[Number, Number]:
    """``m = decay m + (1 - decay) g²; w -= lr g / (√m + ε)``."""
    m = decay * m + rest * (g * g)
    return w - lr * g / (np.sqrt(m) + epsilon), m


CUDA = """
    m = decay * m + rest * (g * g);
    w = w - lr * g / (sqrt(m) + epsilon);
"""


def kernel(rule: DecayedAdagrad) -> Kernel:
    """The kernel of decayed Adagrad."""
    scalars = lambda lr, t: (lr, rule.decay, 1 - rule.decay, rule.epsilon)  # noqa: E731
    return elementwise(decayed_adagrad, ("moment",), scalars, CUDA)
