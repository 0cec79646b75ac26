"""Gradient descent with (Nesterov) momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Momentum(Rule):
    r"""Gradient descent with heavy-ball or Nesterov momentum.

    Symbols: :math:`v` velocity, :math:`\mu` momentum, :math:`\eta` learning rate.

    .. math::
        v \leftarrow \mu v + g \qquad
        w \leftarrow w - \eta v \quad\text{or, with Nesterov,}\quad w \leftarrow w - \eta (g + \mu v)

    Documented: fluid.optimizer.MomentumOptimizer (page 000).
    Decision: the learning rate stays outside the velocity, and nothing dampens the gradient, as printed.
    """

    momentum: float = hyper(None, "[0, 1)", "share of the velocity that is kept", corners=(0.9, 0.0, 0.5, 0.99))
    use_nesterov: bool = flag(False, "look ahead along the velocity")

    name = "momentum"
    slots = ("velocity",)
    scaling = Scaling({"param": 1, "grad": 1})
    special_case = SpecialCase({"momentum": 0.0, "use_nesterov": False}, "sgd")

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        velocity = self.momentum * state.velocity + grad
        direction = grad + self.momentum * velocity if self.use_nesterov else velocity
        return param - lr * direction, State(velocity=velocity)
