"""FTML, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class FTML(Rule):
    r"""Follow the moving leader: the minimum of a moving average of what each step would have minimized.

    Symbols: :math:`\theta` the parameter, :math:`v` the second moment, :math:`d` the curvature, :math:`z` the linear
    term, :math:`\beta_1, \beta_2` decays, :math:`\epsilon` epsilon, :math:`\eta` learning rate; :math:`d'` is the
    curvature before.

    .. math::
        v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        d \leftarrow \frac{1 - \beta_1^t}{\eta} \left(\sqrt{\frac{v}{1 - \beta_2^t}} + \epsilon\right)

        z \leftarrow \beta_1 z + (1 - \beta_1) g - (d - \beta_1 d') \theta \qquad \theta \leftarrow -\frac{z}{d}

    Documented: Zheng & Kwok (2017), algorithm 1.
    Decision: all real numbers are allowed parameters, so nothing is projected; epsilon is the same in every step.
    """

    beta1: float = hyper(0.6, "[0, 1)", "decay of the linear term", corners=(0.6, 0.0, 0.9))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the root of the second moment", corners=(1e-8, 1e-2, 0.1))

    book = "papers"
    name = "papers.ftml"
    slots = ("v", "d", "z")
    scaling = Scaling({"grad": 1, "epsilon": 1})
    at_rest = None

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        d = (1 - self.beta1**t) * (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon) / lr
        z = self.beta1 * state.z + (1 - self.beta1) * grad - (d - self.beta1 * state.d) * param
        return -z / d, State(v=v, d=d, z=z)
