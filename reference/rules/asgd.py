"""Stochastic average gradient, which Paddle names ASGD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import count, hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class ASGD(Rule):
    r"""Stochastic average gradient (Schmidt, Le Roux & Bach, 2017): step along the mean of each batch's last gradient.

    Symbols: :math:`d` the sum of the remembered gradients, :math:`y` history, :math:`n` batch_num,
    :math:`\lambda` weight_decay, :math:`m = t - 1` the number of steps before this one.

    .. math::
        i = m \bmod n \qquad d \leftarrow d - y_i + g \qquad y_i \leftarrow g \qquad
        w \leftarrow w - \eta \Bigl(\frac{d}{\min(m + 1, n)} + \lambda w\Bigr)

    Documented: paddle.optimizer.ASGD (page 001).
    Decision: weight decay acts on the step alone and is not remembered in :math:`y_i`, as printed. The sum is formed as
    :math:`d + (g - y_i)`. The decay is taken off first: so the rounding bound holds for every grouping of the line.

    Warning:
        torch.optim.ASGD is Polyak averaging, another algorithm of the same name.
    """

    batch_num: int = count(1, "[1, inf)", "number of batches in an epoch", corners=(1, 2, 3))
    weight_decay: float = hyper(0.0, "[0, inf)", "weight decay", corners=(0.0, 0.01, 0.3))

    name = "asgd"
    slots = ("d", "history")
    learning_rate = 0.001
    scaling = Scaling({"param": 1, "grad": 1})
    special_case = SpecialCase({"batch_num": 1, "weight_decay": 0.0}, "sgd")
    at_rest = {"weight_decay": 0.0}

    def initial_state(self, param: Array) -> State:
        return State(d=np.zeros_like(param), history=np.zeros_like(param, shape=(self.batch_num, *param.shape)))

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        batch = (t - 1) % self.batch_num
        d = state.d + (grad - state.history[batch])
        this_batch = (np.arange(self.batch_num) == batch).reshape((-1,) + (1,) * param.ndim)
        history = np.where(this_batch, grad, state.history)
        param = param - lr * self.weight_decay * param
        return param - lr * (d / min(t, self.batch_num)), State(d=d, history=history)
