"""RAdam of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class RAdam(Rule):
    r"""Adam with a rectified variance, and plain momentum in the first steps (Liu et al., 2020).

    Symbols: :math:`m` exp_avg, :math:`v` exp_avg_sq, :math:`\beta_1, \beta_2` decays, :math:`\epsilon` eps,
    :math:`\lambda` weight_decay, :math:`\gamma` learning rate; the gradient is negated to maximize.

    .. math::
        g \leftarrow g + \lambda w \quad\text{or, decoupled,}\quad w \leftarrow w - \gamma \lambda w

        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        \rho_\infty = \frac{2}{1 - \beta_2} - 1 \qquad \rho = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t}

        r = \sqrt{\frac{(\rho - 4)(\rho - 2) \rho_\infty}{(\rho_\infty - 4)(\rho_\infty - 2) \rho}}
        \frac{\sqrt{1 - \beta_2^t}}{\sqrt{v} + \epsilon} \text{ if } \rho > 5, \text{ else } 1 \qquad
        w \leftarrow w - \gamma \frac{m}{1 - \beta_1^t} r

    Documented: torch.optim.RAdam (docstring). The paper's threshold is 4.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5, 0.75))
    eps: float = hyper(1e-8, "[0, inf)", "added to the root of the second moment", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, or decoupled decay", corners=(0.0, 0.01, 0.5))
    decoupled_weight_decay: bool = flag(False, "take the decay off the parameter, as AdamW does")
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.radam"
    slots = ("exp_avg", "exp_avg_sq")
    decay_powers = ("beta1", "beta2")
    learning_rate = 0.001
    at_rest = {"weight_decay": 0.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        if self.decoupled_weight_decay:
            param = param - lr * self.weight_decay * param
        else:
            grad = with_decay(grad, param, self.weight_decay)
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)
        correction = 1 - self.beta2**t
        longest = 2 / (1 - self.beta2) - 1
        length = longest - 2 * t * self.beta2**t / correction
        inf, rho = np.maximum(longest, 5.0), np.maximum(length, 5.0)  # where they are less, the root is not used
        rectification = np.sqrt((rho - 4) * (rho - 2) * inf / ((inf - 4) * (inf - 2) * rho))
        adaptive = rectification * np.sqrt(correction) / (np.sqrt(exp_avg_sq) + self.eps)
        factor = np.where(length > 5, adaptive, 1.0)
        return param - lr * exp_avg / (1 - self.beta1**t) * factor, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)
