"""AdEMAMix, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AdEMAMix(Rule):
    r"""AdamW whose step adds a second, slower average of the gradient, which is not corrected.

    Symbols: :math:`\theta` the parameter, :math:`m_1, m_2` the fast and the slow average, :math:`\nu` the second
    moment, :math:`\beta_1, \beta_2, \beta_3` decays, :math:`\alpha` the weight of the slow average, :math:`\epsilon`
    epsilon, :math:`\lambda` weight_decay, :math:`\eta` learning rate.

    .. math::
        m_1 \leftarrow \beta_1 m_1 + (1 - \beta_1) g \qquad m_2 \leftarrow \beta_3 m_2 + (1 - \beta_3) g \qquad
        \nu \leftarrow \beta_2 \nu + (1 - \beta_2) g^2

        \hat m_1 = \frac{m_1}{1 - \beta_1^t} \qquad \hat\nu = \frac{\nu}{1 - \beta_2^t} \qquad
        \theta \leftarrow \theta - \eta \left(\frac{\hat m_1 + \alpha m_2}{\sqrt{\hat\nu} + \epsilon}
        + \lambda \theta\right)

    Documented: Pagliardini et al. (2024), algorithm 1.
    Decision: the schedules of alpha and of beta3 in line 1 are optional; here both are constant.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the fast average", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    beta3: float = hyper(0.9999, "[0, 1)", "decay of the slow average", corners=(0.9999, 0.5, 0.75))
    alpha: float = hyper(None, "[0, inf)", "weight of the slow average", corners=(5.0, 0.0, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the root of the second moment", corners=(1e-8, 1e-2, 0.1))
    weight_decay: float = hyper(None, "[0, inf)", "strength of the decoupled decay", corners=(0.1, 0.0, 0.5))

    book = "papers"
    name = "papers.ademamix"
    slots = ("m1", "m2", "nu")
    scaling = Scaling({"grad": 1, "epsilon": 1})
    at_rest = {"weight_decay": 0.0}
    special_case = SpecialCase(
        {"alpha": 0.0},
        "torch.adamw",
        {"beta1": "beta1", "beta2": "beta2", "eps": "epsilon", "weight_decay": "weight_decay"},
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m1 = self.beta1 * state.m1 + (1 - self.beta1) * grad
        m2 = self.beta3 * state.m2 + (1 - self.beta3) * grad
        nu = self.beta2 * state.nu + (1 - self.beta2) * np.square(grad)
        corrected1, corrected2 = m1 / (1 - self.beta1**t), nu / (1 - self.beta2**t)
        step = (corrected1 + self.alpha * m2) / (np.sqrt(corrected2) + self.epsilon)
        return param - lr * (step + self.weight_decay * param), State(m1=m1, m2=m2, nu=nu)
