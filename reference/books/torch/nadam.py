"""NAdam of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class NAdam(Rule):
    r"""Adam with Nesterov momentum, whose weight grows over the steps (Dozat, 2016).

    Symbols: :math:`m` exp_avg, :math:`v` exp_avg_sq, :math:`P` mu_product, :math:`\beta_1, \beta_2` decays,
    :math:`\psi` momentum_decay, :math:`\epsilon` eps, :math:`\lambda` weight_decay, :math:`\gamma` learning rate; the
    gradient is negated to maximize.

    .. math::
        g \leftarrow g + \lambda w \quad\text{or, decoupled,}\quad w \leftarrow w - \gamma \lambda w

        \mu_t = \beta_1 \left(1 - \tfrac{1}{2} 0.96^{t \psi}\right) \qquad P \leftarrow P \mu_t \qquad
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2

        \hat m = \frac{\mu_{t+1} m}{1 - P \mu_{t+1}} + \frac{(1 - \mu_t) g}{1 - P} \qquad
        w \leftarrow w - \frac{\gamma \hat m}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    Documented: torch.optim.NAdam (docstring).
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    eps: float = hyper(1e-8, "[0, inf)", "added to the root of the corrected second moment", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, or decoupled decay", corners=(0.0, 0.01, 0.5))
    momentum_decay: float = hyper(0.004, "[0, inf)", "how fast the momentum grows", corners=(0.004, 0.0, 1.0))
    decoupled_weight_decay: bool = flag(False, "take the decay off the parameter, as AdamW does")
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.nadam"
    slots = ("exp_avg", "exp_avg_sq", "mu_product")
    decay_powers = ("beta2",)
    learning_rate = 0.002
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "eps": 1}, {"weight_decay": 0.0})

    def initial_state(self, param: Array) -> State:
        zeros = np.zeros_like(param)
        return State(exp_avg=zeros, exp_avg_sq=zeros, mu_product=1.0)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        if self.decoupled_weight_decay:
            param = param - lr * self.weight_decay * param
        else:
            grad = with_decay(grad, param, self.weight_decay)
        mu, next_mu = self.mu(t), self.mu(t + 1)
        mu_product = state.mu_product * mu
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)
        ahead = next_mu * exp_avg / (1 - mu_product * next_mu) + (1 - mu) * grad / (1 - mu_product)
        param = param - lr * ahead / (np.sqrt(exp_avg_sq / (1 - self.beta2**t)) + self.eps)
        return param, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, mu_product=mu_product)

    def mu(self, t: int) -> Any:
        """Return the momentum of one step."""
        return self.beta1 * (1 - 0.5 * 0.96 ** (t * self.momentum_decay))
