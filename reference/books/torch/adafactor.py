"""Adafactor of torch.optim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.declaration import flag, hyper
from optimetry.reference.norms import rms
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adafactor(Rule):
    r"""Adafactor (Shazeer & Stern, 2018): the second moment of a matrix as the product of that of its rows and columns.

    Symbols: :math:`R` row_var, :math:`C` col_var, :math:`V` variance, :math:`\tau` beta2_decay, :math:`\epsilon_1,
    \epsilon_2` eps1 and eps2, :math:`d` the clipping threshold, :math:`\lambda` weight_decay, :math:`\gamma` learning
    rate, :math:`n, m` numbers of rows and columns; the gradient is negated to maximize.

    .. math::
        \beta = 1 - t^\tau \qquad \alpha = \max(\epsilon_2, \operatorname{RMS}(w)) \min(\gamma, 1 / \sqrt t) \qquad
        w \leftarrow w - \gamma \lambda w

        R \leftarrow \beta R + (1 - \beta) \frac{g^2 1_m}{m} \qquad
        C \leftarrow \beta C + (1 - \beta) \frac{1_n^\top g^2}{n} \qquad
        V = \frac{R C}{\max(1_n^\top R / n, \epsilon_1)} \text{ of matrices, }
        V \leftarrow \beta V + (1 - \beta) g^2 \text{ of vectors}

        U = \frac{g}{\max(\sqrt V, \epsilon_1)} \qquad
        w \leftarrow w - \frac{\alpha U}{\max(1, \operatorname{RMS}(U) / d)}

    Documented: torch.optim.Adafactor (docstring).
    Decision: its note has means where its algorithm prints sums, and so it is here. A tensor of more dimensions is
    matrices, in the last two; RMS is over all of it, and undefined where there are no elements. What the default None
    of eps1 means is not said: a number is required.
    """

    beta2_decay: float = hyper(
        -0.8, "(-inf, 0]", "power of the step that is the weight of the new", corners=(-0.8, -0.3)
    )
    eps1: float = hyper(
        None,
        "[0, inf)",
        "smallest divisor of the gradient, and of the factors",
        corners=(2.0**-23, 1e-30, 2.0**-7, 0.1),
    )
    eps2: float = hyper(1e-3, "[0, inf)", "smallest scale of a step", corners=(1e-3, 0.5, 0.0))
    d: float = hyper(1.0, "[1, inf)", "root mean square beyond which an update is clipped", corners=(1.0, 1.25))
    weight_decay: float = hyper(0.0, "[0, inf)", "decay, times the learning rate", corners=(0.0, 0.01, 0.5))
    maximize: bool = flag(False, "ascend instead of descend")

    book = "torch"
    name = "torch.adafactor"
    slots = ("row_var", "col_var", "variance")
    learning_rate = 0.01
    elementwise = False
    counts_zeros = True
    shaped = True
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"param": 1, "eps2": 1})

    @classmethod
    def takes(cls, shape: tuple[int, ...]) -> bool:
        return 0 not in shape

    def initial_state(self, param: Array) -> State:
        if param.ndim < 2:
            return State(row_var=0.0, col_var=0.0, variance=np.zeros_like(param))
        return State(row_var=np.zeros_like(param[..., :1]), col_var=np.zeros_like(param[..., :1, :]), variance=0.0)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad, beta2 = directed(grad, self.maximize), 1 - t**self.beta2_decay
        scale = np.maximum(self.eps2, rms(param)) * np.minimum(lr, 1 / t**0.5)
        param = param - lr * self.weight_decay * param
        squared = np.square(grad)
        row_var, col_var, variance = state.row_var, state.col_var, state.variance
        if grad.ndim > 1:
            row_var = beta2 * row_var + (1 - beta2) * np.mean(squared, axis=-1, keepdims=True)
            col_var = beta2 * col_var + (1 - beta2) * np.mean(squared, axis=-2, keepdims=True)
            estimate = row_var * col_var / np.maximum(np.mean(row_var, axis=-2, keepdims=True), self.eps1)
        else:
            estimate = variance = beta2 * variance + (1 - beta2) * squared
        update = grad / np.maximum(np.sqrt(estimate), self.eps1)
        param = param - scale * update / np.maximum(1.0, rms(update) / self.d)
        return param, State(row_var=row_var, col_var=col_var, variance=variance)
