"""Adamax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adamax(Rule):
    r"""Adamax: Adam with the infinity norm in place of the second moment (Kingma & Ba, 2015, section 7).

    Symbols: :math:`m` moment, :math:`u` inf_norm, :math:`\beta_1, \beta_2` decays, :math:`\epsilon` epsilon.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad u \leftarrow \max(\beta_2 u + \epsilon, |g|) \qquad
        w \leftarrow w - \frac{\eta}{1 - \beta_1^t} \frac{m}{u}

    Documented: fluid.optimizer.AdamaxOptimizer (page 000). Epsilon is not in the paper; the page adds it to the first
    argument of the maximum.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the infinity norm", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the decayed norm", corners=(1e-8, 1e-2, 0.1))

    name = "adamax"
    slots = ("moment", "inf_norm")
    decay_powers = ("beta1",)
    learning_rate = 0.001
    scaling = Scaling({"grad": 1, "epsilon": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = self.beta1 * state.moment + (1 - self.beta1) * grad
        inf_norm = np.maximum(self.beta2 * state.inf_norm + self.epsilon, np.abs(grad))
        return param - lr / (1 - self.beta1**t) * (moment / inf_norm), State(moment=moment, inf_norm=inf_norm)
