"""LaProp, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class LaProp(Rule):
    r"""Momentum of gradients that are divided by the root of their second moment, each by that of its own step.

    Symbols: :math:`\theta` the parameter, :math:`n` the second moment, :math:`m` the momentum, :math:`\mu, \nu` their
    decays, :math:`\epsilon` epsilon, :math:`\lambda` learning rate.

    .. math::
        n \leftarrow \nu n + (1 - \nu) g^2 \qquad
        m \leftarrow \mu m + (1 - \mu) \frac{g}{\sqrt{n / (1 - \nu^t)} + \epsilon} \qquad
        \theta \leftarrow \theta - \lambda \frac{m}{1 - \mu^t}

    Documented: Ziyin et al. (2020), LaProp.
    """

    mu: float = hyper(0.9, "[0, 1)", "decay of the momentum", corners=(0.9, 0.0, 0.5))
    nu: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(1e-15, "[0, inf)", "added to the root of the second moment", corners=(1e-15, 1e-2, 0.1))

    book = "papers"
    name = "papers.laprop"
    slots = ("n", "m")
    scaling = Scaling({"grad": 1, "epsilon": 1})
    special_case = SpecialCase({"mu": 0.0}, "papers.adam", {"beta1": 0.0, "beta2": "nu", "epsilon": "epsilon"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        n = self.nu * state.n + (1 - self.nu) * np.square(grad)
        normalized = grad / (np.sqrt(n / (1 - self.nu**t)) + self.epsilon)
        m = self.mu * state.m + (1 - self.mu) * normalized
        return param - lr * m / (1 - self.mu**t), State(n=n, m=m)
