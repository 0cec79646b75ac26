"""AdaMax, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AdaMax(Rule):
    r"""Adam with the infinity norm in place of the second moment.

    Symbols: :math:`\theta` the parameter, :math:`m` first moment, :math:`u` infinity norm, :math:`\beta_1, \beta_2`
    decays, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad u \leftarrow \max(\beta_2 u, |g|) \qquad
        \theta \leftarrow \theta - \frac{\alpha}{1 - \beta_1^t} \frac{m}{u}

    Documented: Kingma & Ba (2015), algorithm 2.
    Decision: the last line divides by u alone. Where u is 0, as before the first gradient, this takes no step; as
    printed it is 0/0.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the infinity norm", corners=(0.999, 0.9, 0.5))

    book = "papers"
    name = "papers.adamax"
    slots = ("m", "u")
    learning_rate = 0.002
    scaling = Scaling({"grad": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        u = np.maximum(self.beta2 * state.u, np.abs(grad))
        return param - lr / (1 - self.beta1**t) * quotient(m, u), State(m=m, u=u)
