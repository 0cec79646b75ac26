"""Adadelta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adadelta(Rule):
    r"""Adadelta: steps in units of the parameter, from running averages of squared gradients and squared updates.

    Symbols: :math:`a` avg_squared_grad, :math:`u` avg_squared_update, :math:`\rho` rho, :math:`\epsilon` epsilon.

    .. math::
        a \leftarrow \rho a + (1 - \rho) g^2 \qquad
        d = \sqrt{\frac{u + \epsilon}{a + \epsilon}}\, g \qquad
        u \leftarrow \rho u + (1 - \rho) d^2 \qquad w \leftarrow w - \eta d

    Documented: fluid.optimizer.AdadeltaOptimizer (page 000) is an alias without a section, so the source is Zeiler
    (2012), algorithm 1. Decision: the step uses the *old* average of squared updates, as in the paper, and the learning
    rate of the Paddle signature scales it.
    """

    epsilon: float = hyper(1e-6, "(0, inf)", "added to both averages", corners=(1e-6, 1e-2, 0.1))
    rho: float = hyper(0.95, "[0, 1)", "share of the averages that is kept", corners=(0.95, 0.0, 0.5, 0.99))

    name = "adadelta"
    slots = ("avg_squared_grad", "avg_squared_update")
    learning_rate = 0.001
    scaling = Scaling({"param": 1, "grad": 1, "epsilon": 2})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        squared_grad = self.rho * state.avg_squared_grad + (1 - self.rho) * np.square(grad)
        delta = np.sqrt((state.avg_squared_update + self.epsilon) / (squared_grad + self.epsilon)) * grad
        squared_update = self.rho * state.avg_squared_update + (1 - self.rho) * np.square(delta)
        return param - lr * delta, State(avg_squared_grad=squared_grad, avg_squared_update=squared_update)
