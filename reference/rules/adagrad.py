"""Adagrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adagrad(Rule):
    r"""Adagrad: every element's step is divided by the root of its summed squared gradients.

    Symbols: :math:`m` moment, :math:`\epsilon` epsilon.

    .. math:: m \leftarrow m + g^2 \qquad w \leftarrow w - \frac{\eta g}{\sqrt{m} + \epsilon}

    Documented: fluid.optimizer.AdagradOptimizer (page 000). Epsilon is not in the paper (Duchi et al., 2011); the page
    adds it outside the root.
    """

    epsilon: float = hyper(1e-6, "[0, inf)", "added to the root of the moment", corners=(1e-6, 1e-2, 0.1))
    initial_accumulator_value: float = hyper(0.0, "[0, inf)", "the moment before the first step", corners=(0.0, 0.1))

    name = "adagrad"
    slots = ("moment",)
    scaling = Scaling({"grad": 1, "epsilon": 1, "initial_accumulator_value": 2})

    def initial_state(self, param: Array) -> State:
        return State(moment=np.zeros_like(param) + self.initial_accumulator_value)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = state.moment + np.square(grad)
        return param - lr * grad / (np.sqrt(moment) + self.epsilon), State(moment=moment)
