"""Signum, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Signum(Rule):
    r"""The sign of an average of gradients.

    Symbols: :math:`x` the parameter, :math:`m` momentum, :math:`\beta` beta, :math:`\delta` learning rate.

    .. math::
        m \leftarrow \beta m + (1 - \beta) g \qquad x \leftarrow x - \delta \operatorname{sign}(m)

    Documented: Bernstein et al. (2018), algorithm 2.
    Decision: the sign of 0 is 0. Where the average is 0 within its rounding error, either sign is right.
    """

    beta: float = hyper(None, "[0, 1)", "decay of the momentum", corners=(0.9, 0.0, 0.5))

    book = "papers"
    name = "papers.signum"
    slots = ("m",)
    scaling = Scaling({"grad": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta * state.m + (1 - self.beta) * grad
        return param - lr * np.sign(m), State(m=m)
