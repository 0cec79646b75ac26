"""MADGRAD, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class MADGRAD(Rule):
    r"""Dual averaging from the first parameter, divided by the cube root of a sum of squares, with momentum.

    Symbols: :math:`x` the parameter, :math:`x_0` its first value, :math:`s, \nu` the weighted sums of gradients and of
    their squares, :math:`c` the momentum, :math:`\epsilon` epsilon, :math:`\gamma` learning rate.

    .. math::
        \lambda = \gamma \sqrt{t} \qquad s \leftarrow s + \lambda g \qquad \nu \leftarrow \nu + \lambda g^2 \qquad
        z = x_0 - \frac{s}{\sqrt[3]{\nu} + \epsilon} \qquad x \leftarrow (1 - c) x + c z

    Documented: Defazio & Jelassi (2021), algorithm 1.
    Decision: the steps k of the algorithm begin at 0, and those of a rule at 1.
    """

    c: float = hyper(None, "(0, 1]", "weight of the dual average", corners=(0.1, 1.0, 0.5))
    epsilon: float = hyper(None, "[0, inf)", "added to the cube root", corners=(1e-6, 1e-2, 0.5))

    book = "papers"
    name = "papers.madgrad"
    slots = ("s", "nu", "x0")
    at_rest = {"c": 1.0}

    def initial_state(self, param: Array) -> State:
        return State(s=np.zeros_like(param), nu=np.zeros_like(param), x0=param)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        weight = lr * t**0.5
        s = state.s + weight * grad
        nu = state.nu + weight * np.square(grad)
        z = state.x0 - s / (np.cbrt(nu) + self.epsilon)
        return (1 - self.c) * param + self.c * z, State(s=s, nu=nu, x0=state.x0)
