"""RAdam, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class RAdam(Rule):
    r"""Adam with a rectified variance, and plain momentum in the first steps.

    Symbols: :math:`\theta` the parameter, :math:`m, v` first and second moment, :math:`\beta_1, \beta_2` decays,
    :math:`\rho` length of the average, :math:`\alpha` learning rate.

    .. math::
        v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad
        \hat m = \frac{m}{1 - \beta_1^t} \qquad \rho_\infty = \frac{2}{1 - \beta_2} - 1 \qquad
        \rho = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t}

        r = \sqrt{\frac{(\rho - 4)(\rho - 2) \rho_\infty}{(\rho_\infty - 4)(\rho_\infty - 2) \rho}}
        \sqrt{\frac{1 - \beta_2^t}{v}} \text{ if } \rho > 4, \text{ else } 1 \qquad
        \theta \leftarrow \theta - \alpha r \hat m

    Documented: Liu et al. (2020), algorithm 2.
    Decision: line 10 divides by v alone. Where v is 0, this takes no step; as printed it is 0/0.
    """

    beta1: float = hyper(None, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(None, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5, 0.75, 0.6875))

    book = "papers"
    name = "papers.radam"
    slots = ("m", "v")

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        correction = 1 - self.beta2**t
        longest = 2 / (1 - self.beta2) - 1
        length = longest - 2 * t * self.beta2**t / correction
        inf, rho = np.maximum(longest, 4.0), np.maximum(length, 4.0)  # where they are less, the root is not used
        excess = np.maximum(length - 4, 0.0)  # rho - 4, which no rounding makes negative
        rectification = np.sqrt(quotient(excess * (rho - 2) * inf, (inf - 4) * (inf - 2) * rho))
        factor = np.where(length > 4, rectification * np.sqrt(quotient(correction, v)), 1.0)
        return param - lr * m / (1 - self.beta1**t) * factor, State(m=m, v=v)
