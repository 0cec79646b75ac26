"""Rprop of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Rprop(Rule):
    r"""Resilient backpropagation: a step of its own for every element, which grows while the gradient keeps its sign.

    Symbols: :math:`\eta` step_size, :math:`p` prev, :math:`\eta_-` etaminus, :math:`\eta_+` etaplus,
    :math:`\Gamma_{min}, \Gamma_{max}` step_size_min and step_size_max; the gradient is negated to maximize.

    .. math::
        \eta \leftarrow \min(\eta \eta_+, \Gamma_{max}) \text{ if } p g > 0 \qquad
        \eta \leftarrow \max(\eta \eta_-, \Gamma_{min}) \text{ and } g \leftarrow 0 \text{ if } p g < 0

        w \leftarrow w - \eta \operatorname{sign}(g) \qquad p \leftarrow g

    Documented: torch.optim.Rprop (docstring). The learning rate of the first step is the first step size, and no later
    one is used; where the gradient has no sign before or now, the step size stays, inside the limits or not.
    """

    etaminus: float = hyper(0.5, "(0, 1)", "factor of the step size where the sign changes", corners=(0.5, 0.9))
    etaplus: float = hyper(1.2, "(1, inf)", "factor of the step size where the sign stays", corners=(1.2, 2.0))
    step_size_min: float = hyper(1e-6, "[0, inf)", "the smallest step size", corners=(1e-6, 1e-3))
    step_size_max: float = hyper(50.0, "[0, inf)", "the largest step size", corners=(50.0, 0.05))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.rprop"
    slots = ("prev", "step_size")
    learning_rate = 0.01

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        old_size = np.where(t > 1, state.step_size, state.step_size + lr)
        product = state.prev * grad
        larger = np.minimum(old_size * self.etaplus, self.step_size_max)
        smaller = np.maximum(old_size * self.etaminus, self.step_size_min)
        step_size = np.where(product > 0, larger, np.where(product < 0, smaller, old_size))
        grad = np.where(product < 0, 0.0, grad)
        return param - step_size * np.sign(grad), State(prev=grad, step_size=step_size)
