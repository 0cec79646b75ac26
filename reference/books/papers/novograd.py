"""NovoGrad, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class NovoGrad(Rule):
    r"""Momentum of gradients that are divided by the root of one second moment for the whole tensor.

    Symbols: :math:`w` the parameter, :math:`m` first moment, :math:`v` second moment, one number for a tensor,
    :math:`\beta_1, \beta_2` decays, :math:`\epsilon` epsilon, :math:`d` weight_decay, :math:`\lambda` learning rate.

    .. math::
        v \leftarrow \|g\|^2 \qquad m \leftarrow \frac{g}{\sqrt{v}} + d w \qquad \text{in the first step, then}

        v \leftarrow \beta_2 v + (1 - \beta_2) \|g\|^2 \qquad
        m \leftarrow \beta_1 m + \left(\frac{g}{\sqrt{v} + \epsilon} + d w\right) \qquad
        w \leftarrow w - \lambda m

    Documented: Ginsburg et al. (2019), algorithm 1.
    Decision: a tensor is a layer. The first step has no epsilon, as printed; where v is 0, its quotient is 0.
    """

    beta1: float = hyper(0.95, "[0, 1)", "decay of the first moment", corners=(0.95, 0.0, 0.5))
    beta2: float = hyper(0.98, "[0, 1)", "decay of the second moment", corners=(0.98, 0.0, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the root of the second moment", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(
        None, "[0, inf)", "share of the parameter that enters the first moment", corners=(0.01, 0.0, 0.5)
    )

    book = "papers"
    name = "papers.novograd"
    slots = ("m", "v")
    elementwise = False
    scaling = Scaling({"grad": 1, "epsilon": 1})
    at_rest = {"weight_decay": 0.0}

    def initial_state(self, param: Array) -> State:
        return State(m=np.zeros_like(param), v=0.0)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        square = np.sum(np.square(grad), initial=0.0)
        if t == 1:
            v = square
            m = quotient(grad, np.sqrt(v)) + self.weight_decay * param
        else:
            v = self.beta2 * state.v + (1 - self.beta2) * square
            m = self.beta1 * state.m + (grad / (np.sqrt(v) + self.epsilon) + self.weight_decay * param)
        return param - lr * m, State(m=m, v=v)
