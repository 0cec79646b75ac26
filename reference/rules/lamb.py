"""LAMB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Lamb(Rule):
    r"""LAMB: Adam's direction with decoupled weight decay, scaled per tensor by a ratio of norms (You et al., 2020).

    Symbols: :math:`m` moment1, :math:`v` moment2, :math:`\lambda` lamb_weight_decay, :math:`q` the full direction.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2

        q = \frac{m}{\sqrt{v} + \epsilon} + \lambda w \qquad w \leftarrow w - \eta \frac{\|w\|}{\|q\|} q

    Documented: fluid.optimizer.LambOptimizer (page 000).
    Decision: no bias correction, as printed (the paper corrects it). Where either norm is zero the ratio is 1. A
    parameter excluded from weight decay has :math:`\lambda = 0` and keeps the ratio.
    """

    lamb_weight_decay: float = hyper(0.01, "[0, inf)", "weight decay", corners=(0.01, 0.0, 0.3))
    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-6, "[0, inf)", "added to the root of the second moment", corners=(1e-6, 1e-2, 0.1))

    name = "lamb"
    slots = ("moment1", "moment2")
    decay_powers = ("beta1", "beta2")
    learning_rate = 0.001
    elementwise = False
    scaling = Scaling({"grad": 1, "epsilon": 1})
    at_rest = {"lamb_weight_decay": 0.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        direction = moment1 / (np.sqrt(moment2) + self.epsilon) + self.lamb_weight_decay * param
        param_norm, direction_norm = norm(param), norm(direction)
        ratio = np.where((param_norm > 0) & (direction_norm > 0), param_norm / direction_norm, 1.0)
        return param - lr * ratio * direction, State(moment1=moment1, moment2=moment2)
