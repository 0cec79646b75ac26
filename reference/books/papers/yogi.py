"""Yogi, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Yogi(Rule):
    r"""Adam whose second moment grows or shrinks by a share of the squared gradient, whatever its own size.

    Symbols: :math:`x` the parameter, :math:`m, v` first and second moment, :math:`\beta_1, \beta_2` decays,
    :math:`\epsilon` epsilon, :math:`\eta` learning rate.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad
        v \leftarrow v - (1 - \beta_2) \operatorname{sign}(v - g^2) g^2 \qquad
        x \leftarrow x - \eta \frac{m}{\sqrt{v} + \epsilon}

    Documented: Zaheer et al. (2018), algorithm 2.
    Decision: both moments start at 0, and neither is corrected, as printed. Where the second moment is the square
    within its rounding error, either sign is right.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-3, "[0, inf)", "added to the root of the second moment", corners=(1e-3, 1e-8, 0.1))

    book = "papers"
    name = "papers.yogi"
    slots = ("m", "v")
    scaling = Scaling({"grad": 1, "epsilon": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        square = np.square(grad)
        v = state.v - (1 - self.beta2) * np.sign(state.v - square) * square
        return param - lr * m / (np.sqrt(v) + self.epsilon), State(m=m, v=v)
