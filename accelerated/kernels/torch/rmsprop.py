"""RMSprop of torch.optim."""

from __future__ import annotations

import numpy as np

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.rmsprop import RMSprop


def rmsprop(
    w: Real, g: Real, v: Real, lr: Real, alpha: Real, rest: Real, eps: Real, sign: Real, l2: Real
) -> tuple[Real, Real]:
    """``g = sign g + l2 w; v = α v + (1 - α) g²; w -= lr g / (√v + ε)``."""
    g = sign * g + l2 * w
    v = alpha * v + rest * (g * g)
    return w - lr * g / (np.sqrt(v) + eps), v


def momentum(
    w: Real, g: Real, v: Real, b: Real, lr: Real, alpha: Real, rest: Real, eps: Real, sign: Real, l2: Real, mu: Real
) -> tuple[Real, Real, Real]:
    """``g`` and ``v`` as above; ``b = mu b + g / (√v + ε); w -= lr b``."""
    g = sign * g + l2 * w
    v = alpha * v + rest * (g * g)
    b = mu * b + g / (np.sqrt(v) + eps)
    return w - lr * b, v, b


def centered(
    w: Real, g: Real, v: Real, a: Real, lr: Real, alpha: Real, rest: Real, eps: Real, sign: Real, l2: Real
) -> tuple[Real, Real, Real]:
    """``g`` and ``v`` as above; ``a = α a + (1 - α) g; w -= lr g / (√(v - a²) + ε)``."""
    g = sign * g + l2 * w
    v = alpha * v + rest * (g * g)
    a = alpha * a + rest * g
    return w - lr * g / (np.sqrt(v - a * a) + eps), v, a


def centered_momentum(
    w: Real,
    g: Real,
    v: Real,
    a: Real,
    b: Real,
    lr: Real,
    alpha: Real,
    rest: Real,
    eps: Real,
    sign: Real,
    l2: Real,
    mu: Real,
) -> tuple[Real, Real, Real, Real]:
    """``g``, ``v`` and ``a`` as above; ``b = mu b + g / (√(v - a²) + ε); w -= lr b``."""
    g = sign * g + l2 * w
    v = alpha * v + rest * (g * g)
    a = alpha * a + rest * g
    b = mu * b + g / (np.sqrt(v - a * a) + eps)
    return w - lr * b, v, a, b


SQUARES = """
    g = sign * g + l2 * w;
    v = alpha * v + rest * (g * g);
"""
MEAN = """
    a = alpha * a + rest * g;
"""
CUDA = {
    rmsprop: SQUARES + "    w = w - lr * g / (sqrt(v) + eps);",
    momentum: SQUARES + "    b = mu * b + g / (sqrt(v) + eps);\n    w = w - lr * b;",
    centered: SQUARES + MEAN + "    w = w - lr * g / (sqrt(v - a * a) + eps);",
    centered_momentum: SQUARES + MEAN + "    b = mu * b + g / (sqrt(v - a * a) + eps);\n    w = w - lr * b;",
}


def kernel(rule: RMSprop) -> Kernel:
    """Return the kernel of RMSprop; what it does not need of the mean gradient and the buffer is not even read."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        shared = lr, rule.alpha, 1 - rule.alpha, rule.eps, sign_of(rule.maximize), rule.weight_decay
        return (*shared, rule.momentum) if rule.momentum > 0 else shared

    slots = "square_avg", *("grad_avg",) * rule.centered, *("momentum_buffer",) * (rule.momentum > 0)
    functions = {1: rmsprop, 2: centered if rule.centered else momentum, 3: centered_momentum}
    function = functions[len(slots)]
    return elementwise(function, slots, scalars, CUDA[function])
