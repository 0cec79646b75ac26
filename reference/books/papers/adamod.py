"""AdaMod, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AdaMod(Rule):
    r"""Adam whose rate of each element is at most the average of those that it had.

    Symbols: :math:`\theta` the parameter, :math:`m, v` first and second moment, :math:`s` the average of the rates,
    :math:`\beta_1, \beta_2, \beta_3` decays, :math:`\epsilon` epsilon, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        \hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t}

        \eta = \frac{\alpha}{\sqrt{\hat v} + \epsilon} \qquad s \leftarrow \beta_3 s + (1 - \beta_3) \eta \qquad
        \theta \leftarrow \theta - \min(\eta, s) \hat m

    Documented: Ding et al. (2019), AdaMod.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    beta3: float = hyper(None, "[0, 1)", "decay of the average of rates", corners=(0.999, 0.0, 0.5))
    epsilon: float = hyper(1e-8, "(0, inf)", "added to the root of the second moment", corners=(1e-8, 1e-2, 0.1))

    book = "papers"
    name = "papers.adamod"
    slots = ("m", "v", "s")

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        rate = lr / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon)
        s = self.beta3 * state.s + (1 - self.beta3) * rate
        return param - np.minimum(rate, s) * (m / (1 - self.beta1**t)), State(m=m, v=v, s=s)
