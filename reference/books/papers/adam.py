"""Adam, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adam(Rule):
    r"""Adam: a step in units of the learning rate, from corrected averages of the gradient and of its square.

    Symbols: :math:`\theta` the parameter, :math:`m, v` first and second moment, :math:`\beta_1, \beta_2` decays,
    :math:`\epsilon` epsilon, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        \hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t}

        \theta \leftarrow \theta - \alpha \frac{\hat m}{\sqrt{\hat v} + \epsilon}

    Documented: Kingma & Ba (2015), algorithm 1.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(
        1e-8, "[0, inf)", "added to the root of the corrected second moment", corners=(1e-8, 1e-2, 0.1)
    )

    book = "papers"
    name = "papers.adam"
    slots = ("m", "v")
    learning_rate = 0.001
    scaling = Scaling({"grad": 1, "epsilon": 1})
    special_case = SpecialCase({}, "torch.adam", {"beta1": "beta1", "beta2": "beta2", "eps": "epsilon"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        corrected1, corrected2 = m / (1 - self.beta1**t), v / (1 - self.beta2**t)
        return param - lr * corrected1 / (np.sqrt(corrected2) + self.epsilon), State(m=m, v=v)
