"""ASGD of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class ASGD(Rule):
    r"""Averaged stochastic gradient descent: a decaying rate, and an average beside the parameter.

    Symbols: :math:`\eta` eta, :math:`\mu` mu, :math:`\bar w` ax, :math:`\lambda` lambd, :math:`\alpha` alpha,
    :math:`\gamma` learning rate; the L2 penalty weight_decay is added to the gradient, which is negated to maximize.

    .. math::
        w \leftarrow (1 - \lambda \eta) w - \eta g \qquad \bar w \leftarrow \bar w + \mu (w - \bar w)

        \eta \leftarrow \frac{\gamma}{(1 + \lambda \gamma t)^\alpha} \qquad \mu \leftarrow \frac{1}{\max(1, t - t_0)}

    Documented: torch.optim.ASGD (docstring). It prints no algorithm, but what its numbers are: lambd the "decay term",
    alpha the "power for eta update", t0 the "point at which to start averaging".
    Decision: what the class computes is read into these words; in the first step eta is the learning rate and mu is 1.
    The average is a slot, which no step returns.
    """

    lambd: float = hyper(1e-4, "[0, inf)", "decay term", corners=(1e-4, 0.0, 0.1))
    alpha: float = hyper(0.75, "[0, inf)", "power of the fall of eta", corners=(0.75, 0.0, 1.0))
    t0: float = hyper(1e6, "[0, inf)", "the step at which averaging starts", corners=(1e6, 1.0))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, added to the gradient", corners=(0.0, 0.01, 0.5))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.asgd"
    slots = ("eta", "mu", "ax")
    learning_rate = 0.01
    at_rest = {"weight_decay": 0.0, "lambd": 0.0}

    def initial_state(self, param: Array) -> State:
        return State(eta=0.0, mu=1.0, ax=np.zeros_like(param))

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        eta = state.eta if t > 1 else lr
        param = param * (1 - self.lambd * eta) - eta * grad
        ax = state.ax + state.mu * (param - state.ax)
        eta = lr / (1 + self.lambd * lr * t) ** self.alpha
        return param, State(eta=eta, mu=1 / np.maximum(1.0, t - self.t0), ax=ax)
