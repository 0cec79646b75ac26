"""RMSProp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class RMSProp(Rule):
    r"""RMSProp with momentum, optionally centered (Hinton, lecture 6 of "Neural networks for machine learning").

    Symbols: :math:`r` mean_square, :math:`a` mean_grad, :math:`v` velocity, :math:`\rho` rho, :math:`\mu` momentum.

    .. math::
        r \leftarrow \rho r + (1 - \rho) g^2 \qquad [\,a \leftarrow \rho a + (1 - \rho) g\,]

        v \leftarrow \mu v + \frac{\eta g}{\sqrt{r\,[- a^2] + \epsilon}} \qquad w \leftarrow w - v

    Brackets: only when centered. Documented: fluid.optimizer.RMSPropOptimizer (pages 000 and 003).
    Decision: epsilon inside the root and the learning rate inside the velocity, as printed. The page's words "Nesterov
    momentum" contradict its own equation, which is heavy-ball momentum: the equation stands.
    """

    rho: float = hyper(0.95, "[0, 1)", "share of the averages that is kept", corners=(0.95, 0.5, 0.99))
    epsilon: float = hyper(1e-6, "[0, inf)", "added under the root", corners=(1e-6, 1e-2, 0.1))
    momentum: float = hyper(0.0, "[0, 1)", "share of the velocity that is kept", corners=(0.0, 0.9, 0.5))
    centered: bool = flag(False, "normalize by the variance, not by the second moment")

    name = "rmsprop"
    slots = ("mean_square", "mean_grad", "velocity")
    scaling = Scaling({"grad": 1, "epsilon": 2})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        mean_square = self.rho * state.mean_square + (1 - self.rho) * np.square(grad)
        mean_grad = self.rho * state.mean_grad + (1 - self.rho) * grad if self.centered else state.mean_grad
        variance = mean_square - np.square(mean_grad) if self.centered else mean_square
        velocity = self.momentum * state.velocity + lr * grad / np.sqrt(variance + self.epsilon)
        return param - velocity, State(mean_square=mean_square, mean_grad=mean_grad, velocity=velocity)
