"""SGD of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class SGD(Rule):
    r"""Gradient descent with momentum, dampening, Nesterov's momentum and an L2 penalty.

    Symbols: :math:`b` momentum_buffer, :math:`\mu` momentum, :math:`\tau` dampening, :math:`\lambda` weight_decay,
    :math:`\gamma` learning rate; the gradient is negated to maximize.

    .. math::
        g \leftarrow g + \lambda w \qquad
        b \leftarrow \mu b + (1 - \tau) g, \text{ in the first step } b \leftarrow g

        w \leftarrow w - \gamma b \quad\text{or, with Nesterov,}\quad w \leftarrow w - \gamma (g + \mu b) \qquad
        \text{without momentum } w \leftarrow w - \gamma g

    Documented: torch.optim.SGD (docstring).
    Decision: without momentum the decay is taken off first, so that the rounding bound holds for every grouping of the
    line: :math:`w (1 - \gamma \lambda) - \gamma g` is the same step.
    """

    momentum: float = hyper(0.0, "[0, 1)", "share of the buffer that is kept", corners=(0.9, 0.0, 0.5))
    dampening: float = hyper(0.0, "[0, 1]", "share of a later gradient that is left out", corners=(0.0, 0.5, 1.0))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, added to the gradient", corners=(0.0, 0.01, 0.5))
    nesterov: bool = flag(False, "look ahead along the buffer")
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.sgd"
    slots = ("momentum_buffer",)
    learning_rate = 0.001
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"param": 1, "grad": 1})
    special_case = SpecialCase(
        {"dampening": 0.0, "weight_decay": 0.0, "maximize": False},
        "momentum",
        {"momentum": "momentum", "use_nesterov": "nesterov"},
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        plain = param - lr * self.weight_decay * param - lr * grad
        grad = with_decay(grad, param, self.weight_decay)
        later = self.momentum * state.momentum_buffer + (1 - self.dampening) * grad
        buffer = np.where(t > 1, later, grad)
        direction = grad + self.momentum * buffer if self.nesterov else buffer
        return np.where(self.momentum != 0, param - lr * direction, plain), State(momentum_buffer=buffer)
