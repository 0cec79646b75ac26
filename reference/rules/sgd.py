"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class SGD(Rule):
    r"""Stochastic gradient descent: one step against the gradient.

    Symbols: :math:`w` parameter, :math:`g` gradient, :math:`\eta` learning rate.

    .. math:: w \leftarrow w - \eta g

    Documented: fluid.optimizer.SGDOptimizer (page 000).
    """

    name = "sgd"
    scaling = Scaling({"param": 1, "grad": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        return param - lr * grad, state
