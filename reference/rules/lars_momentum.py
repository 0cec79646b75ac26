"""Momentum with layer-wise adaptive rate scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class LarsMomentum(Rule):
    r"""Momentum whose learning rate is scaled per tensor by the ratio of parameter norm to gradient norm (LARS).

    Symbols: :math:`c` lars_coeff, :math:`\lambda` lars_weight_decay, :math:`\mu` momentum, :math:`v` velocity.

    .. math::
        \eta_l = \eta c \frac{\|w\|}{\|g\| + \lambda \|w\|} \qquad
        v \leftarrow \mu v + \eta_l (g + \lambda w) \qquad w \leftarrow w - v

    Documented: fluid.optimizer.LarsMomentumOptimizer (page 000).
    Decision: norms are taken per tensor.
    Departure: where a norm is zero the plain learning rate is used, as in PaddlePaddle 1.8.5. The printed formula is
    defined there unless both are: it gives the rate 0 for :math:`\|w\| = 0`, with which a parameter that starts at
    zero never moves, and :math:`\eta c / \lambda` for :math:`\|g\| = 0`.
    """

    momentum: float = hyper(None, "[0, 1)", "share of the velocity that is kept", corners=(0.9, 0.0, 0.5))
    lars_coeff: float = hyper(0.001, "(0, inf)", "trust in the layer", corners=(0.001, 0.1))
    lars_weight_decay: float = hyper(0.0005, "[0, inf)", "weight decay", corners=(0.0005, 0.0, 0.1))

    name = "lars_momentum"
    slots = ("velocity",)
    elementwise = False
    scaling = Scaling({"param": 1, "grad": 1})
    at_rest = {"lars_weight_decay": 0.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        param_norm, grad_norm = norm(param), norm(grad)
        scaled = lr * self.lars_coeff * param_norm / (grad_norm + self.lars_weight_decay * param_norm)
        local_lr = np.where((param_norm > 0) & (grad_norm > 0), scaled, lr)
        velocity = self.momentum * state.velocity + local_lr * (grad + self.lars_weight_decay * param)
        return param - velocity, State(velocity=velocity)
