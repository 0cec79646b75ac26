"""ADOPT, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class ADOPT(Rule):
    r"""Momentum of gradients that are divided by the root of the second moment of those before, and clipped.

    Symbols: :math:`\theta` the parameter, :math:`m` the momentum, :math:`v` the second moment, :math:`c` the clip,
    :math:`\beta_1, \beta_2` decays, :math:`\epsilon` epsilon, :math:`\alpha` learning rate.

    .. math::
        c = (t - 1)^{1/4} \qquad
        m \leftarrow \beta_1 m + (1 - \beta_1)
        \operatorname{clip}\left(\frac{g}{\max(\sqrt{v}, \epsilon)}, -c, c\right) \qquad
        \theta \leftarrow \theta - \alpha m \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2

    Documented: Taniguchi et al. (2024), clipped ADOPT.
    Decision: the algorithm counts from the gradient behind the first one, which only gives :math:`v = g^2`: here that
    is step 1, which leaves the parameter alone. The clip is the fourth root that the analysis allows.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the momentum", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.9999, "[0, 1)", "decay of the second moment", corners=(0.9999, 0.9, 0.5))
    epsilon: float = hyper(1e-6, "(0, inf)", "least root of the second moment", corners=(1e-6, 1e-2, 0.5))

    book = "papers"
    name = "papers.adopt"
    slots = ("m", "v")
    scaling = Scaling({"grad": 1, "epsilon": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        if t == 1:
            return param, State(m=state.m, v=np.square(grad))
        clip = (t - 1) ** 0.25
        normalized = grad / np.maximum(np.sqrt(state.v), self.epsilon)
        m = self.beta1 * state.m + (1 - self.beta1) * np.minimum(np.maximum(normalized, -clip), clip)
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        return param - lr * m, State(m=m, v=v)
