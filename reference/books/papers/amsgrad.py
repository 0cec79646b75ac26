"""AMSGrad, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AMSGrad(Rule):
    r"""Adam without corrections, divided by the root of the largest second moment so far.

    Symbols: :math:`x` the parameter, :math:`m, v` first and second moment, :math:`\hat v` the largest second moment,
    :math:`\beta_1, \beta_2` decays, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        \hat v \leftarrow \max(\hat v, v) \qquad x \leftarrow x - \alpha \frac{m}{\sqrt{\hat v}}

    Documented: Reddi et al. (2018), algorithm 2.
    Decision: the decay :math:`\beta_{1t}` is constant, and nothing is projected. There is neither a correction nor an
    epsilon; where the largest moment is 0, this takes no step, as printed it is 0/0.
    """

    beta1: float = hyper(None, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(None, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))

    book = "papers"
    name = "papers.amsgrad"
    slots = ("m", "v", "v_max")
    scaling = Scaling({"grad": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        v_max = np.maximum(state.v_max, v)
        return param - lr * quotient(m, np.sqrt(v_max)), State(m=m, v=v, v_max=v_max)
