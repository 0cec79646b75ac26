"""Lion, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Lion(Rule):
    r"""The sign of an average of gradients, with one decay for the step and another for the state.

    Symbols: :math:`\theta` the parameter, :math:`m` momentum, :math:`\beta_1, \beta_2` decays, :math:`\lambda`
    weight_decay, :math:`\eta` learning rate.

    .. math::
        c = \beta_1 m + (1 - \beta_1) g \qquad \theta \leftarrow \theta - \eta (\operatorname{sign}(c) + \lambda \theta)
        \qquad m \leftarrow \beta_2 m + (1 - \beta_2) g

    Documented: Chen et al. (2023), algorithm 2.
    Decision: the sign of 0 is 0. Where the average is 0 within its rounding error, either sign is right. The decay is
    taken off first, so that the rounding bound holds for every grouping of the line, also where sign and decay cancel.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the average whose sign is taken", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.99, "[0, 1)", "decay of the momentum", corners=(0.99, 0.0, 0.5))
    weight_decay: float = hyper(
        None, "[0, inf)", "share of the parameter, times the learning rate, that is taken off", corners=(0.01, 0.0, 0.5)
    )

    book = "papers"
    name = "papers.lion"
    slots = ("m",)
    scaling = Scaling({"grad": 1})
    at_rest = {"weight_decay": 0.0}
    special_case = SpecialCase({"beta1": 0.5, "beta2": 0.5, "weight_decay": 0.0}, "papers.signum", {"beta": 0.5})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        average = self.beta1 * state.m + (1 - self.beta1) * grad
        param = param - lr * self.weight_decay * param
        return param - lr * np.sign(average), State(m=self.beta2 * state.m + (1 - self.beta2) * grad)
