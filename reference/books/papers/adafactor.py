"""Adafactor, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.norms import rms
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Adafactor(Rule):
    r"""Steps relative to the parameter, by the second moment of a matrix as the product of its rows' and its columns'.

    Symbols: :math:`X` the parameter, :math:`R, C` the means of squares of rows and columns, :math:`V` the second
    moment, :math:`c` the exponent of its decay, :math:`\epsilon_1, \epsilon_2` eps1 and eps2, :math:`d` the clipping
    threshold, :math:`\rho` learning rate, :math:`n, m` numbers of rows and columns.

    .. math::
        \beta = 1 - t^{-c} \qquad \alpha = \max(\epsilon_2, \operatorname{RMS}(X)) \rho

        R \leftarrow \beta R + (1 - \beta) \frac{(g^2 + \epsilon_1) 1_m}{m} \qquad
        C \leftarrow \beta C + (1 - \beta) \frac{1_n^\top (g^2 + \epsilon_1)}{n} \qquad
        V = \frac{R C}{1_n^\top R / n} \text{ of matrices, }
        V \leftarrow \beta V + (1 - \beta) (g^2 + \epsilon_1) \text{ of vectors}

        U = \frac{g}{\sqrt V} \qquad X \leftarrow X - \frac{\alpha U}{\max(1, \operatorname{RMS}(U) / d)}

    Documented: Shazeer & Stern (2018), algorithms 4 and 5.
    Decision: rows and columns have means where the algorithm prints sums, which gives the same V. The decay is that of
    algorithm 6, and its step size is the learning rate of each step. A tensor of more dimensions is matrices, in the
    last two; RMS is over all of it, and undefined where there are no elements.
    """

    c: float = hyper(0.8, "[0, 1]", "exponent of the step that is the weight of the new", corners=(0.8, 0.3, 1.0))
    eps1: float = hyper(1e-30, "(0, inf)", "added to squared gradients", corners=(1e-30, 2.0**-7, 0.1))
    eps2: float = hyper(1e-3, "[0, inf)", "smallest scale of a step", corners=(1e-3, 0.5, 0.0))
    d: float = hyper(1.0, "[1, inf)", "root mean square beyond which an update is clipped", corners=(1.0, 1.25))

    book = "papers"
    name = "papers.adafactor"
    slots = ("rows", "columns", "v")
    elementwise = False
    counts_zeros = True
    shaped = True
    scaling = Scaling({"param": 1, "eps2": 1})

    @classmethod
    def takes(cls, shape: tuple[int, ...]) -> bool:
        return 0 not in shape

    def initial_state(self, param: Array) -> State:
        if param.ndim < 2:
            return State(rows=0.0, columns=0.0, v=np.zeros_like(param))
        return State(rows=np.zeros_like(param[..., :1]), columns=np.zeros_like(param[..., :1, :]), v=0.0)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        beta = 1 - t**-self.c
        squared = np.square(grad) + self.eps1
        rows, columns, v = state.rows, state.columns, state.v
        if grad.ndim > 1:
            rows = beta * rows + (1 - beta) * np.mean(squared, axis=-1, keepdims=True)
            columns = beta * columns + (1 - beta) * np.mean(squared, axis=-2, keepdims=True)
            estimate = rows / np.mean(rows, axis=-2, keepdims=True) * columns
        else:
            estimate = v = beta * v + (1 - beta) * squared
        update = grad / np.sqrt(estimate)
        step = np.maximum(self.eps2, rms(param)) * lr * update / np.maximum(1.0, rms(update) / self.d)
        return param - step, State(rows=rows, columns=columns, v=v)
