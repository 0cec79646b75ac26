"""FTRL-Proximal, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class FTRL(Rule):
    r"""FTRL-Proximal with L1 and L2 regularization, and a learning rate for every element.

    Symbols: :math:`w` the parameter, :math:`z, n` its state, :math:`\beta` beta, :math:`\lambda_1, \lambda_2` lambda1
    and lambda2, :math:`\alpha` learning rate.

    .. math::
        \sigma = \frac{\sqrt{n + g^2} - \sqrt{n}}{\alpha} \qquad z \leftarrow z + g - \sigma w \qquad
        n \leftarrow n + g^2

        w \leftarrow \begin{cases} -\left(\frac{\beta + \sqrt{n}}{\alpha} + \lambda_2\right)^{-1}
        (z - \operatorname{sign}(z) \lambda_1) & |z| > \lambda_1 \\ 0 & \text{otherwise} \end{cases}

    Documented: McMahan et al. (2013), algorithm 1.
    Decision: the weights of the next round, which it computes at the beginning of that, are returned by this step. The
    w of the second equation is the parameter as it is given, which in the first round the algorithm has as 0.
    """

    beta: float = hyper(1.0, "[0, inf)", "added to the root of the sum of squares", corners=(1.0, 0.0, 0.1))
    lambda1: float = hyper(None, "[0, inf)", "L1 regularization strength", corners=(0.0, 0.01, 0.3))
    lambda2: float = hyper(None, "[0, inf)", "L2 regularization strength", corners=(0.0, 0.02, 0.5))

    book = "papers"
    name = "papers.ftrl"
    slots = ("z", "n")
    scaling = Scaling({"grad": 1, "beta": 1, "lambda1": 1, "lambda2": 1})
    special_case = SpecialCase({"beta": 0.0, "lambda2": 0.0}, "ftrl", {"l1": "lambda1"})
    at_rest = None

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        n = state.n + np.square(grad)
        sigma = (np.sqrt(n) - np.sqrt(state.n)) / lr
        z = state.z + grad - sigma * param
        above = z - np.sign(z) * self.lambda1
        below = (self.beta + np.sqrt(n)) / lr + self.lambda2
        return np.where(np.abs(z) > self.lambda1, -above / below, 0.0), State(z=z, n=n)
