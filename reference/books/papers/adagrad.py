"""AdaGrad, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, SpecialCase, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class AdaGrad(Rule):
    r"""A rate for every element, which falls with the root of the sum of its squared gradients.

    Symbols: :math:`x` the parameter, :math:`s` sum of squares, :math:`\delta` delta, :math:`\eta` learning rate.

    .. math::
        s \leftarrow s + g^2 \qquad x \leftarrow x - \eta \frac{g}{\delta + \sqrt{s}}

    Documented: Duchi et al. (2011), figure 1.
    Decision: of its two updates the composite mirror descent, without a regularizer and a projection. The page gives
    no number for delta; with 0 it takes a pseudoinverse, and this divides by 0 before the first gradient.
    """

    delta: float = hyper(None, "[0, inf)", "added to the root of the sum", corners=(1e-8, 1e-2, 0.1))

    book = "papers"
    name = "papers.adagrad"
    slots = ("s",)
    scaling = Scaling({"grad": 1, "delta": 1})
    special_case = SpecialCase({}, "torch.adagrad", {"eps": "delta"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        s = state.s + np.square(grad)
        return param - lr * grad / (self.delta + np.sqrt(s)), State(s=s)
