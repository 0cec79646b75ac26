"""SparseAdam of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class SparseAdam(Rule):
    r"""Adam, masked: what has no gradient, or one of zero, keeps its value and its moments.

    Symbols: :math:`m` exp_avg, :math:`v` exp_avg_sq, :math:`\beta_1, \beta_2` decays, :math:`\epsilon` eps,
    :math:`\gamma` learning rate; the gradient is negated to maximize.

    .. math::
        \text{where } g \neq 0 \text{:} \quad m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad
        v \leftarrow \beta_2 v + (1 - \beta_2) g^2

        w \leftarrow w - \gamma \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    Documented: torch.optim.SparseAdam (docstring). It prints no algorithm: "a masked version of the Adam algorithm".
    Decision: that is algorithm 1 of the paper it refers to, as in ``torch.adam``; t counts the steps of the parameter.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    eps: float = hyper(1e-8, "(0, inf)", "added to the root of the corrected second moment", corners=(1e-8, 1e-2, 0.1))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.sparse_adam"
    slots = ("exp_avg", "exp_avg_sq")
    masked = True
    decay_powers = ("beta1", "beta2")
    learning_rate = 0.001
    scaling = Scaling({"grad": 1, "eps": 1})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad, given = directed(grad, self.maximize), grad != 0
        exp_avg = np.where(given, self.beta1 * state.exp_avg + (1 - self.beta1) * grad, state.exp_avg)
        exp_avg_sq = np.where(
            given, self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad), state.exp_avg_sq
        )
        corrected1, corrected2 = exp_avg / (1 - self.beta1**t), exp_avg_sq / (1 - self.beta2**t)
        moved = param - lr * corrected1 / (np.sqrt(corrected2) + self.eps)
        return np.where(given, moved, param), State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)
