"""Adadelta of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adadelta(Rule):
    r"""Adadelta: steps in the units of the parameter (Zeiler, 2012), with a learning rate and an L2 penalty.

    Symbols: :math:`v` square_avg, :math:`u` acc_delta, :math:`\rho` rho, :math:`\epsilon` eps, :math:`\lambda`
    weight_decay, :math:`\gamma` learning rate; the gradient is negated to maximize.

    .. math::
        g \leftarrow g + \lambda w \qquad v \leftarrow \rho v + (1 - \rho) g^2 \qquad
        \Delta = \frac{\sqrt{u + \epsilon}}{\sqrt{v + \epsilon}} g

        u \leftarrow \rho u + (1 - \rho) \Delta^2 \qquad w \leftarrow w - \gamma \Delta

    Documented: torch.optim.Adadelta (docstring).
    """

    rho: float = hyper(0.9, "[0, 1]", "decay of both averages", corners=(0.9, 0.0, 0.5))
    eps: float = hyper(1e-6, "[0, inf)", "added under both roots", corners=(1e-6, 1e-2, 0.1))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, added to the gradient", corners=(0.0, 0.01, 0.5))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.adadelta"
    slots = ("square_avg", "acc_delta")
    learning_rate = 1.0
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"param": 1, "grad": 1, "eps": 2})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        square_avg = self.rho * state.square_avg + (1 - self.rho) * np.square(grad)
        delta = np.sqrt(state.acc_delta + self.eps) / np.sqrt(square_avg + self.eps) * grad
        acc_delta = self.rho * state.acc_delta + (1 - self.rho) * np.square(delta)
        return param - lr * delta, State(square_avg=square_avg, acc_delta=acc_delta)
