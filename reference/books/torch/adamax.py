"""Adamax of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adamax(Rule):
    r"""Adam with the infinity norm in place of the second moment, and an L2 penalty.

    Symbols: :math:`m` exp_avg, :math:`u` exp_inf, :math:`\beta_1, \beta_2` decays, :math:`\epsilon` eps,
    :math:`\lambda` weight_decay, :math:`\gamma` learning rate; the gradient is negated to maximize.

    .. math::
        g \leftarrow g + \lambda w \qquad m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad
        u \leftarrow \max(\beta_2 u, |g| + \epsilon) \qquad w \leftarrow w - \frac{\gamma m}{(1 - \beta_1^t) u}

    Documented: torch.optim.Adamax (docstring).
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the infinity norm", corners=(0.999, 0.9, 0.5))
    eps: float = hyper(1e-8, "[0, inf)", "added to the absolute gradient", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, added to the gradient", corners=(0.0, 0.01, 0.5))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.adamax"
    slots = ("exp_avg", "exp_inf")
    decay_powers = ("beta1",)
    learning_rate = 0.002
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "eps": 1}, {"weight_decay": 0.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_inf = np.maximum(self.beta2 * state.exp_inf, np.abs(grad) + self.eps)
        return param - lr * exp_avg / ((1 - self.beta1**t) * exp_inf), State(exp_avg=exp_avg, exp_inf=exp_inf)
