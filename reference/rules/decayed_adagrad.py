"""Decayed Adagrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class DecayedAdagrad(Rule):
    r"""Adagrad with a decaying average in place of the sum, so that the steps do not vanish.

    Symbols: :math:`m` moment, :math:`\rho` decay, :math:`\epsilon` epsilon.

    .. math::
        m \leftarrow \rho m + (1 - \rho) g^2 \qquad w \leftarrow w - \frac{\eta g}{\sqrt{m} + \epsilon}

    Documented: fluid.optimizer.DecayedAdagradOptimizer (page 000), epsilon outside the root.
    """

    decay: float = hyper(0.95, "[0, 1)", "share of the moment that is kept", corners=(0.95, 0.0, 0.5, 0.99))
    epsilon: float = hyper(1e-6, "[0, inf)", "added to the root of the moment", corners=(1e-6, 1e-2, 0.1))

    name = "decayed_adagrad"
    slots = ("moment",)
    scaling = Scaling({"grad": 1, "epsilon": 1})
    special_case = SpecialCase({"decay": 0.0}, "adam", {"beta1": 0.0, "beta2": 0.0, "epsilon": "epsilon"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = self.decay * state.moment + (1 - self.decay) * np.square(grad)
        return param - lr * grad / (np.sqrt(moment) + self.epsilon), State(moment=moment)
