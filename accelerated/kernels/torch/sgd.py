"""SGD of torch.optim."""

from __future__ import annotations

from optimetry.accelerated.kernels.kernel import Kernel, Real, elementwise, select
from optimetry.accelerated.kernels.torch.decay import sign_of
from optimetry.reference.books.torch.sgd import SGD


def sgd(w: Real, g: Real, lr: Real, sign: Real, l2: Real) -> tuple[Real]:
    """``w -= lr (sign g + l2 w)``."""
    return (w - lr * (sign * g + l2 * w),)


def momentum(
    w: Real, g: Real, b: Real, lr: Real, sign: Real, l2: Real, mu: Real, share: Real, later: Real
) -> tuple[Real, Real]:
    """``g = sign g + l2 w; b = mu b + share g`` if ``later``, else ``g``; ``w -= lr b``."""
    g = sign * g + l2 * w
    b = select(later > 0, mu * b + share * g, g)
    return w - lr * b, b


def nesterov(
    w: Real, g: Real, b: Real, lr: Real, sign: Real, l2: Real, mu: Real, share: Real, later: Real
) -> tuple[Real, Real]:
    """``g`` and ``b`` as above; ``w -= lr (g + mu b)``."""
    g = sign * g + l2 * w
    b = select(later > 0, mu * b + share * g, g)
    return w - lr * (g + mu * b), b


CUDA = """
    w = w - lr * (sign * g + l2 * w);
"""
MOMENTUM_CUDA = """
    g = sign * g + l2 * w;
    b = later > 0 ? mu * b + share * g : g;
    w = w - lr * b;
"""
NESTEROV_CUDA = """
    g = sign * g + l2 * w;
    b = later > 0 ? mu * b + share * g : g;
    w = w - lr * (g + mu * b);
"""


def kernel(rule: SGD) -> Kernel:
    """Return the kernel of SGD; the buffer is not even read without momentum, and starts as the first gradient."""

    def scalars(lr: float, t: int) -> tuple[float, ...]:
        return lr, sign_of(rule.maximize), rule.weight_decay

    def with_buffer(lr: float, t: int) -> tuple[float, ...]:
        return *scalars(lr, t), rule.momentum, 1 - rule.dampening, float(t > 1)

    if rule.momentum == 0:
        return elementwise(sgd, (), scalars, CUDA, regrouped=True)
    function, cuda = (nesterov, NESTEROV_CUDA) if rule.nesterov else (momentum, MOMENTUM_CUDA)
    return elementwise(function, ("momentum_buffer",), with_buffer, cuda)
