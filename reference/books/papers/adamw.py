"""AdamW, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AdamW(Rule):
    r"""Adam with decoupled weight decay.

    Symbols: :math:`\theta` the parameter, :math:`m, v` first and second moment, :math:`\beta_1, \beta_2` decays,
    :math:`\epsilon` epsilon, :math:`\lambda` weight_decay, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        \hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t}

        \theta \leftarrow \theta - \left(\alpha \frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda \theta\right)

    Documented: Loshchilov & Hutter (2019), algorithm 2.
    Decision: the schedule multiplier :math:`\eta_t` in front of the bracket of line 12 is 1, and the learning rate is
    :math:`\alpha` within it: the decay is not multiplied by it. Libraries do multiply it; that is ``torch.adamw``. The
    decay is taken off first, so that the rounding bound holds for every grouping of the line.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(
        1e-8, "[0, inf)", "added to the root of the corrected second moment", corners=(1e-8, 1e-2, 0.1)
    )
    weight_decay: float = hyper(
        None, "[0, inf)", "share of the parameter that is taken off in every step", corners=(0.01, 0.0, 0.5)
    )

    book = "papers"
    name = "papers.adamw"
    slots = ("m", "v")
    learning_rate = 0.001
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "epsilon": 1})
    special_case = SpecialCase(
        {"weight_decay": 0.0}, "papers.adam", {name: name for name in ("beta1", "beta2", "epsilon")}
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        corrected1, corrected2 = m / (1 - self.beta1**t), v / (1 - self.beta2**t)
        param = param - self.weight_decay * param
        return param - lr * corrected1 / (np.sqrt(corrected2) + self.epsilon), State(m=m, v=v)
