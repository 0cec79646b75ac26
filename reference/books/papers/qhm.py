"""QHM, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class QHM(Rule):
    r"""Quasi-hyperbolic momentum: a step between that of the gradient and that of its average.

    Symbols: :math:`\theta` the parameter, :math:`m` the momentum buffer, :math:`\beta` its decay, :math:`\nu` the
    share of the buffer, :math:`\alpha` learning rate.

    .. math::
        m \leftarrow \beta m + (1 - \beta) g \qquad
        \theta \leftarrow \theta - \alpha \left((1 - \nu) g + \nu m\right)

    Documented: Ma & Yarats (2019), equations 3 and 4.
    Decision: the publication calls the buffer g, and the gradient by its derivative.
    """

    nu: float = hyper(0.7, "[0, 1]", "share of the momentum buffer", corners=(0.7, 0.0, 1.0, 0.25))
    beta: float = hyper(0.999, "[0, 1)", "decay of the momentum buffer", corners=(0.999, 0.0, 0.5))

    book = "papers"
    name = "papers.qhm"
    slots = ("m",)
    scaling = Scaling({"param": 1, "grad": 1})
    special_case = SpecialCase({"nu": 0.0}, "sgd")

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta * state.m + (1 - self.beta) * grad
        return param - lr * ((1 - self.nu) * grad + self.nu * m), State(m=m)
