"""Adagrad of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adagrad(Rule):
    r"""Adagrad with a decaying learning rate and an L2 penalty.

    Symbols: :math:`s` sum, :math:`\eta` lr_decay, :math:`\epsilon` eps, :math:`\lambda` weight_decay, :math:`\gamma`
    learning rate; the gradient is negated to maximize.

    .. math::
        g \leftarrow g + \lambda w \qquad s \leftarrow s + g^2 \qquad
        w \leftarrow w - \frac{\gamma}{1 + (t - 1) \eta} \frac{g}{\sqrt{s} + \epsilon}

    Documented: torch.optim.Adagrad (docstring).
    """

    lr_decay: float = hyper(0.0, "[0, inf)", "how fast the learning rate falls", corners=(0.0, 0.1, 1.0))
    weight_decay: float = hyper(0.0, "[0, inf)", "L2 penalty, added to the gradient", corners=(0.0, 0.01, 0.5))
    initial_accumulator_value: float = hyper(0.0, "[0, inf)", "the sum before the first step", corners=(0.0, 0.1))
    eps: float = hyper(1e-10, "[0, inf)", "added to the root of the sum", corners=(1e-10, 1e-2, 0.1))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.adagrad"
    slots = ("sum",)
    learning_rate = 0.01
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "eps": 1, "initial_accumulator_value": 2}, {"weight_decay": 0.0})
    special_case = SpecialCase(
        {"lr_decay": 0.0, "weight_decay": 0.0, "maximize": False},
        "adagrad",
        {"epsilon": "eps", "initial_accumulator_value": "initial_accumulator_value"},
    )

    def initial_state(self, param: Array) -> State:
        return State(sum=np.zeros_like(param) + self.initial_accumulator_value)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        rate = lr / (1 + (t - 1) * self.lr_decay)
        summed = state.sum + np.square(grad)
        return param - rate * grad / (np.sqrt(summed) + self.eps), State(sum=summed)
