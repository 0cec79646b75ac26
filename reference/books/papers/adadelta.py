"""ADADELTA, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class ADADELTA(Rule):
    r"""Steps in the units of the parameter: the gradient times the ratio of two root mean squares.

    Symbols: :math:`x` the parameter, :math:`v` mean_square_grad, :math:`u` mean_square_step, :math:`\rho` rho,
    :math:`\epsilon` epsilon, :math:`\eta` learning rate.

    .. math::
        v \leftarrow \rho v + (1 - \rho) g^2 \qquad \Delta = \frac{\sqrt{u + \epsilon}}{\sqrt{v + \epsilon}} g \qquad
        u \leftarrow \rho u + (1 - \rho) \Delta^2 \qquad x \leftarrow x - \eta \Delta

    Documented: Zeiler (2012), algorithm 1.
    Decision: the publication has no learning rate; it multiplies the whole step here, and is 1 by default.
    """

    rho: float = hyper(0.95, "[0, 1]", "decay of both averages", corners=(0.95, 0.0, 0.5))
    epsilon: float = hyper(1e-6, "[0, inf)", "added under both roots", corners=(1e-6, 1e-2, 0.1))

    book = "papers"
    name = "papers.adadelta"
    slots = ("mean_square_grad", "mean_square_step")
    learning_rate = 1.0
    scaling = Scaling({"param": 1, "grad": 1, "epsilon": 2})
    special_case = SpecialCase({}, "torch.adadelta", {"rho": "rho", "eps": "epsilon"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        mean_square_grad = self.rho * state.mean_square_grad + (1 - self.rho) * np.square(grad)
        step = np.sqrt(state.mean_square_step + self.epsilon) / np.sqrt(mean_square_grad + self.epsilon) * grad
        mean_square_step = self.rho * state.mean_square_step + (1 - self.rho) * np.square(step)
        after = State(mean_square_grad=mean_square_grad, mean_square_step=mean_square_step)
        return param - lr * step, after
