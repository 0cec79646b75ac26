"""QHAdam, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class QHAdam(Rule):
    r"""Adam with quasi-hyperbolic terms in place of both moments.

    Symbols: :math:`\theta` the parameter, :math:`m, v` first and second moment, :math:`\beta_1, \beta_2` decays,
    :math:`\nu_1, \nu_2` the shares of the moments, :math:`\epsilon` epsilon, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        \hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t}

        \theta \leftarrow \theta - \alpha
        \frac{(1 - \nu_1) g + \nu_1 \hat m}{\sqrt{(1 - \nu_2) g^2 + \nu_2 \hat v} + \epsilon}

    Documented: Ma & Yarats (2019), QHAdam.
    Decision: the publication calls the moments g and s, and the gradient by its derivative.
    """

    nu1: float = hyper(None, "[0, 1]", "share of the first moment", corners=(0.7, 0.0, 1.0))
    nu2: float = hyper(None, "[0, 1]", "share of the second moment", corners=(1.0, 0.0, 0.5))
    beta1: float = hyper(None, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(None, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(None, "[0, inf)", "added to the root", corners=(1e-8, 1e-2, 0.1))

    book = "papers"
    name = "papers.qhadam"
    slots = ("m", "v")
    scaling = Scaling({"grad": 1, "epsilon": 1})
    special_case = SpecialCase(
        {"nu1": 1.0, "nu2": 1.0}, "papers.adam", {"beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        square = np.square(grad)
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * square
        first = (1 - self.nu1) * grad + self.nu1 * (m / (1 - self.beta1**t))
        second = (1 - self.nu2) * square + self.nu2 * (v / (1 - self.beta2**t))
        return param - lr * first / (np.sqrt(second) + self.epsilon), State(m=m, v=v)
