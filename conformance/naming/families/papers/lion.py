"""Rules that are called Lion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.books.papers.lion import Lion
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class LionFamily(Lion):
    """Lion, with a choice at every place where implementations differ."""

    decay: str = axis(
        "with_lr",
        {
            "with_lr": "w loses lr*wd*w",
            "without_lr": "w loses wd*w",
            "coupled": "g + wd*w takes the place of g",
        },
    )
    direction: str = axis(
        "interpolated",
        {
            "interpolated": "the sign of b1*m + (1-b1)*g, m of the step before",
            "momentum": "the sign of this step's m",
        },
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        if self.decay == "coupled":
            grad = grad + self.weight_decay * param
        m = self.beta2 * state.m + (1 - self.beta2) * grad
        sign = np.sign(m if self.direction == "momentum" else self.beta1 * state.m + (1 - self.beta1) * grad)
        if self.decay == "with_lr":
            param = param - lr * self.weight_decay * param
        elif self.decay == "without_lr":
            param = param - self.weight_decay * param
        return param - lr * sign, State(m=m)


dialect = dialects_of(LionFamily)

declare(
    dialect(
        name="decay_without_lr",
        point={"decay": "without_lr"},
        origin="a decay apart from the learning rate, as in AdamW's publication; no release known",
        reference="Chen et al. (2023), algorithm 2, for the line it departs from",
        difference="w -= lr*sign(c) + wd*w",
    ),
    dialect(
        name="coupled_decay",
        point={"decay": "coupled"},
        origin="an L2 penalty in the gradient, as a regularizer adds it; no release known",
        reference="Chen et al. (2023), algorithm 2, for the line it departs from",
        difference="g += wd*w before both averages",
    ),
    dialect(
        name="sign_of_momentum",
        point={"direction": "momentum"},
        origin="Signum with a decay; no release known that calls it Lion",
        reference="Bernstein et al. (2018), algorithm 2",
        difference="w -= lr*(sign(m) + wd*w), m of this step",
    ),
    settings=(Setting({"beta1": 0.7, "beta2": 0.9, "weight_decay": 0.5}, sizes=(0.0, 2.0), grads=(-1.0, 1.0)),),
)
