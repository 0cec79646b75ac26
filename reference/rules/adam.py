"""Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adam(Rule):
    r"""Adam, in the form at the end of section 2 of Kingma & Ba (2015).

    Symbols: :math:`m` moment1, :math:`v` moment2, :math:`\beta_1, \beta_2` decays, :math:`\epsilon` epsilon.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2

        \eta_t = \eta \frac{\sqrt{1 - \beta_2^t}}{1 - \beta_1^t} \qquad
        w \leftarrow w - \eta_t \frac{m}{\sqrt{v} + \epsilon}

    Documented: fluid.optimizer.AdamOptimizer (page 000).
    Decision: the step uses the new moments, as the paper's does; the page leaves out their ``_out`` there.

    Warning:
        This is the paper's "epsilon hat" form. Algorithm 1 of the same paper, which most frameworks follow, scales
        epsilon by :math:`\sqrt{1 - \beta_2^t}`: it is another rule, and a dialect here.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-8, "[0, inf)", "added to the root of the second moment", corners=(1e-8, 1e-2, 0.1))

    name = "adam"
    slots = ("moment1", "moment2")
    decay_powers = ("beta1", "beta2")
    learning_rate = 0.001
    scaling = Scaling({"grad": 1, "epsilon": 1})
    special_case = SpecialCase({"beta1": 0.0, "beta2": 0.0}, "decayed_adagrad", {"decay": 0.0, "epsilon": "epsilon"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        lr_t = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        step = lr_t * moment1 / (np.sqrt(moment2) + self.epsilon)
        return param - step, State(moment1=moment1, moment2=moment2)
