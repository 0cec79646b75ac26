"""LAMB, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class LAMB(Rule):
    r"""Adam's direction with decoupled weight decay, scaled for every tensor by a ratio of norms.

    Symbols: :math:`x` the parameter, :math:`m, v` first and second moment, :math:`\beta_1, \beta_2` decays,
    :math:`\epsilon` epsilon, :math:`\lambda` weight_decay, :math:`\eta` learning rate; a tensor is a layer.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g \qquad v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \qquad
        r = \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

        x \leftarrow x - \eta \frac{\phi(\|x\|)}{\|r + \lambda x\|} (r + \lambda x)

    Documented: You et al. (2020), algorithm 2.
    Decision: the scaling :math:`\phi` is the identity. The ratio is 1 where a norm is 0: the analysis requires
    :math:`\phi` to be bounded away from 0, and the ratio is undefined for no direction.
    """

    beta1: float = hyper(0.9, "[0, 1)", "decay of the first moment", corners=(0.9, 0.0, 0.5))
    beta2: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(
        1e-6, "[0, inf)", "added to the root of the corrected second moment", corners=(1e-6, 1e-2, 0.1)
    )
    weight_decay: float = hyper(0.01, "[0, inf)", "weight decay", corners=(0.01, 0.0, 0.5))

    book = "papers"
    name = "papers.lamb"
    slots = ("m", "v")
    elementwise = False
    scaling = Scaling({"grad": 1, "epsilon": 1})
    at_rest = {"weight_decay": 0.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        r = m / (1 - self.beta1**t) / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon)
        direction = r + self.weight_decay * param
        param_norm, direction_norm = norm(param), norm(direction)
        ratio = np.where((param_norm > 0) & (direction_norm > 0), param_norm / direction_norm, 1.0)
        return param - lr * ratio * direction, State(m=m, v=v)
