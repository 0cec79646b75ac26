"""RMSprop of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class RMSprop(Rule):
    r"""RMSprop with momentum behind the division, centering and an L2 penalty.

    Symbols: :math:`v` square_avg, :math:`a` grad_avg, :math:`b` momentum_buffer, :math:`\alpha` alpha, :math:`\mu`
    momentum, :math:`\epsilon` eps, :math:`\lambda` weight_decay, :math:`\gamma` learning rate; the gradient is negated
    to maximize.

    .. math::
        g \leftarrow g + \lambda w \qquad v \leftarrow \alpha v + (1 - \alpha) g^2 \qquad
        a \leftarrow \alpha a + (1 - \alpha) g

        \tilde v = v - a^2 \text{ if centered, else } v \qquad
        b \leftarrow \mu b + \frac{g}{\sqrt{\tilde v} + \epsilon}

        w \leftarrow w - \gamma b \text{ if } \mu > 0, \text{ else } w - \frac{\gamma g}{\sqrt{\tilde v} + \epsilon}

    Documented: torch.optim.RMSprop (docstring).
    """

    alpha: float = hyper(0.99, "[0, 1)", "decay of the averages", corners=(0.99, 0.9, 0.5))
    eps: float = hyper(1e-8, "[0, inf)", "added to the root of the average", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, added to the gradient", corners=(0.0, 0.01, 0.5))
    momentum: float = hyper(0.0, "[0, 1)", "share of the buffer that is kept", corners=(0.0, 0.9, 0.5))
    centered: bool = flag(False, "divide by the standard deviation of the gradient")
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.rmsprop"
    slots = ("square_avg", "grad_avg", "momentum_buffer")
    learning_rate = 0.01
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "eps": 1}, {"weight_decay": 0.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        square_avg = self.alpha * state.square_avg + (1 - self.alpha) * np.square(grad)
        grad_avg = self.alpha * state.grad_avg + (1 - self.alpha) * grad if self.centered else state.grad_avg
        variance = square_avg - np.square(grad_avg) if self.centered else square_avg
        root = np.sqrt(variance) + self.eps
        buffer = self.momentum * state.momentum_buffer + grad / root
        step = np.where(self.momentum > 0, lr * buffer, lr * grad / root)
        return param - step, State(square_avg=square_avg, grad_avg=grad_avg, momentum_buffer=buffer)
