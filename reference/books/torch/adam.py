"""Adam of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adam(Rule):
    r"""Adam, as algorithm 1 of Kingma & Ba (2015), with an L2 penalty and AMSGrad.

    Symbols: :math:`m` exp_avg, :math:`v` exp_avg_sq, :math:`v^{max}` max_exp_avg_sq, :math:`\beta_1, \beta_2` decays,
    :math:`\epsilon` eps, :math:`\lambda` weight_decay, :math:`\gamma` learning rate; the gradient is negated to
    maximize.

    .. math::
        g \leftarrow g + \lambda w \quad\text{or, decoupled,}\quad w \leftarrow w - \gamma \lambda w

        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2

        v^{max} \leftarrow \max(v^{max}, v) \qquad \hat v = v^{max} / (1 - \beta_2^t) \text{ with amsgrad, else }
        v / (1 - \beta_2^t)

        w \leftarrow w - \gamma \frac{m / (1 - \beta_1^t)}{\sqrt{\hat v} + \epsilon}

    Documented: torch.optim.Adam (docstring).
    Decision: ``decoupled_weight_decay`` is no line of the algorithm; its meaning makes it that of ``torch.adamw``.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    eps: float = hyper(1e-8, "[0, inf)", "added to the root of the corrected second moment", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, or decoupled decay", corners=(0.0, 0.01, 0.5))
    amsgrad: bool = flag(False, "divide by the largest second moment so far")
    maximize: bool = flag(False, "ascend instead of descend")
    decoupled_weight_decay: bool = flag(False, "take the decay off the parameter, as AdamW does")

    book = "torch"
    name = "torch.adam"
    slots = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    decay_powers = ("beta1", "beta2")
    learning_rate = 0.001
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "eps": 1}, {"weight_decay": 0.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        if self.decoupled_weight_decay:
            param = param - lr * self.weight_decay * param
        else:
            grad = with_decay(grad, param, self.weight_decay)
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)
        largest = np.maximum(state.max_exp_avg_sq, exp_avg_sq) if self.amsgrad else state.max_exp_avg_sq
        corrected1 = exp_avg / (1 - self.beta1**t)
        corrected2 = (largest if self.amsgrad else exp_avg_sq) / (1 - self.beta2**t)
        param = param - lr * corrected1 / (np.sqrt(corrected2) + self.eps)
        return param, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, max_exp_avg_sq=largest)
