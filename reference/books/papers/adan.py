"""Adan, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adan(Rule):
    r"""Averages of the gradient, of its change, and of the square of both together.

    Symbols: :math:`\theta` the parameter, :math:`m, v, n` the averages, :math:`g'` the gradient before,
    :math:`\beta_1, \beta_2, \beta_3` the weights of the new terms, :math:`\epsilon` epsilon, :math:`\lambda`
    weight_decay, :math:`\eta` learning rate.

    .. math::
        m \leftarrow (1 - \beta_1) m + \beta_1 g \qquad v \leftarrow (1 - \beta_2) v + \beta_2 (g - g') \qquad
        n \leftarrow (1 - \beta_3) n + \beta_3 (g + (1 - \beta_2) (g - g'))^2

        \theta \leftarrow \frac{1}{1 + \lambda \eta}
        \left(\theta - \frac{\eta}{\sqrt{n} + \epsilon} (m + (1 - \beta_2) v)\right)

    Documented: Xie et al. (2022), algorithm 1.
    Decision: there is no correction, but :math:`m = g, v = 0, n = g^2` in the first step, and :math:`v = g - g'` in the
    second. It is never restarted.
    """

    beta1: float = hyper(0.02, "(0, 1]", "weight of the gradient", corners=(0.02, 1.0, 0.5))
    beta2: float = hyper(0.08, "(0, 1]", "weight of its change", corners=(0.08, 1.0, 0.5))
    beta3: float = hyper(0.01, "(0, 1]", "weight of the square", corners=(0.01, 0.1, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the root of the average of squares", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(None, "[0, inf)", "strength of the proximal weight decay", corners=(0.01, 0.0, 0.5))

    book = "papers"
    name = "papers.adan"
    slots = ("m", "v", "n", "previous")
    scaling = Scaling({"grad": 1, "epsilon": 1})
    at_rest = {"weight_decay": 0.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        if t == 1:
            m, v, n = grad, state.v, np.square(grad)
        else:
            change = grad - state.previous
            m = (1 - self.beta1) * state.m + self.beta1 * grad
            v = (1 - self.beta2) * state.v + self.beta2 * change if t > 2 else change
            n = (1 - self.beta3) * state.n + self.beta3 * np.square(grad + (1 - self.beta2) * change)
        step = lr * (m + (1 - self.beta2) * v) / (np.sqrt(n) + self.epsilon)
        return (param - step) / (1 + self.weight_decay * lr), State(m=m, v=v, n=n, previous=grad)
