"""AdaBelief, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AdaBelief(Rule):
    r"""Adam with the variance of the gradient about its average in place of the second moment.

    Symbols: :math:`\theta` the parameter, :math:`m` first moment, :math:`s` variance, :math:`\beta_1, \beta_2` decays,
    :math:`\epsilon` epsilon, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad s \leftarrow \beta_2 s + (1 - \beta_2) (g - m)^2 + \epsilon

        \theta \leftarrow \theta - \alpha \frac{m / (1 - \beta_1^t)}{\sqrt{s / (1 - \beta_2^t)} + \epsilon}

    Documented: Zhuang et al. (2020), algorithm 2.
    Decision: epsilon is added to the variance in every step, and stays in it, and once more to its root, as printed.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the variance", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the variance and to its root", corners=(1e-8, 1e-2, 0.1))

    book = "papers"
    name = "papers.adabelief"
    slots = ("m", "s")
    learning_rate = 0.001

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        s = self.beta2 * state.s + (1 - self.beta2) * np.square(grad - m) + self.epsilon
        corrected1, corrected2 = m / (1 - self.beta1**t), s / (1 - self.beta2**t)
        return param - lr * corrected1 / (np.sqrt(corrected2) + self.epsilon), State(m=m, s=s)
