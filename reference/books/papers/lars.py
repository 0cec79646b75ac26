"""LARS, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.declaration import hyper
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class LARS(Rule):
    r"""Momentum whose rate is scaled for every tensor by the ratio of its norm to that of its gradient.

    Symbols: :math:`w` the parameter, :math:`v` momentum buffer, :math:`m` momentum, :math:`\beta` weight_decay,
    :math:`\eta` eta, :math:`\gamma` learning rate; a tensor is a layer.

    .. math::
        \lambda = \eta \frac{\|w\|}{\|g\| + \beta \|w\|} \qquad
        v \leftarrow m v + \gamma \lambda (g + \beta w) \qquad w \leftarrow w - v

    Documented: You et al. (2017), algorithm 1.
    Decision: the local rate has the coefficient eta, as in equation 6, and the schedule is the caller's. A tensor of
    zeros has a local rate of 0, as printed, and gets no step from its gradient; so has one with 0/0.
    """

    momentum: float = hyper(0.9, "[0, 1)", "share of the buffer that is kept", corners=(0.9, 0.0, 0.5))
    weight_decay: float = hyper(0.0005, "[0, inf)", "weight decay", corners=(0.0005, 0.0, 0.1))
    eta: float = hyper(0.001, "(0, inf)", "LARS coefficient: trust in the layer", corners=(0.001, 0.1))

    book = "papers"
    name = "papers.lars"
    slots = ("v",)
    elementwise = False
    scaling = Scaling({"param": 1, "grad": 1})
    at_rest = {"weight_decay": 0.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        param_norm, grad_norm = norm(param), norm(grad)
        local_rate = self.eta * quotient(param_norm, grad_norm + self.weight_decay * param_norm)
        v = self.momentum * state.v + lr * local_rate * (grad + self.weight_decay * param)
        return param - v, State(v=v)
