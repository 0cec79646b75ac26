"""Follow the regularized leader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Ftrl(Rule):
    r"""FTRL-Proximal with L1 and L2 regularization (McMahan et al., 2013, algorithm 1).

    Symbols: :math:`s` squared_accum, :math:`l` linear_accum, :math:`\lambda_1` l1, :math:`\lambda_2` l2,
    :math:`p` lr_power.

    .. math::
        n = s + g^2 \qquad l \leftarrow l + g - \frac{n^{-p} - s^{-p}}{\eta} w \qquad
        y = \frac{n^{-p}}{\eta} + 2 \lambda_2

        w \leftarrow \begin{cases} (\lambda_1 \operatorname{sign}(l) - l) / y & |l| > \lambda_1 \\
        0 & \text{otherwise} \end{cases} \qquad s \leftarrow n

    Documented: fluid.optimizer.FtrlOptimizer (page 000).
    Decision: the page prints the fraction of the second equation over ``learning_rate * param``; the paper, and every
    implementation, multiplies by the parameter, and so does this rule. An element whose gradient has been zero from
    the start becomes 0.
    """

    l1: float = hyper(0.0, "[0, inf)", "L1 regularization strength", corners=(0.0, 0.01, 0.3))
    l2: float = hyper(0.0, "[0, inf)", "L2 regularization strength", corners=(0.0, 0.02, 0.5))
    lr_power: float = hyper(-0.5, "(-inf, 0]", "power of the learning-rate schedule", corners=(-0.5, -0.3, -1.0))

    name = "ftrl"
    slots = ("squared_accum", "linear_accum")
    scaling = Scaling({"grad": 1, "l1": 1, "l2": 1}, given={"lr_power": -0.5})
    at_rest = None

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        squared = state.squared_accum + np.square(grad)
        new_rate, old_rate = squared**-self.lr_power, state.squared_accum**-self.lr_power
        linear = state.linear_accum + grad - (new_rate - old_rate) / lr * param
        x = self.l1 * np.sign(linear) - linear
        y = new_rate / lr + 2 * self.l2
        return np.where(np.abs(linear) > self.l1, x / y, 0.0), State(squared_accum=squared, linear_accum=linear)
