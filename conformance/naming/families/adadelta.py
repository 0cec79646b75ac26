"""Rules that are called Adadelta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.adadelta import Adadelta


@dataclass(frozen=True, kw_only=True)
class AdadeltaFamily(Adadelta):
    """Adadelta, with a choice at every place where implementations differ."""

    learning_rate_use: str = axis("scales", {"scales": "w -= lr*d", "ignored": "w -= d"})
    gradient_average: str = axis(
        "new",
        {
            "new": "d divides by the root of the average a of squared gradients with this step's in it",
            "old": "d divides by the root of a before this step",
        },
    )
    update_average: str = axis(
        "old",
        {
            "old": "the step is d = sqrt((u + eps)/(a + eps))*g with u before this step",
            "new": "d is formed again with the u that it has just updated",
        },
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        squared_grad = self.rho * state.avg_squared_grad + (1 - self.rho) * np.square(grad)
        divided_by = state.avg_squared_grad if self.gradient_average == "old" else squared_grad
        delta = np.sqrt((state.avg_squared_update + self.epsilon) / (divided_by + self.epsilon)) * grad
        squared_update = self.rho * state.avg_squared_update + (1 - self.rho) * np.square(delta)
        if self.update_average == "new":
            delta = np.sqrt((squared_update + self.epsilon) / (divided_by + self.epsilon)) * grad
        step = lr * delta if self.learning_rate_use == "scales" else delta
        return param - step, State(avg_squared_grad=squared_grad, avg_squared_update=squared_update)


dialect = dialects_of(AdadeltaFamily)

declare(
    dialect(
        name="learning_rate_ignored",
        point={"learning_rate_use": "ignored"},
        origin="Adadelta as published, which has no learning rate",
        reference="Zeiler (2012), algorithm 1",
        difference="w -= d",
    ),
    dialect(
        name="new_average_learning_rate_ignored",
        point={"learning_rate_use": "ignored", "update_average": "new"},
        origin="PaddlePaddle 1.8.5, whose lazily evaluated step is formed after u was overwritten",
        reference="Paddle 1.8, paddle/fluid/operators/optimizers/adadelta_op.h",
        difference="w -= sqrt((u_new + eps)/(a + eps))*g",
    ),
    dialect(
        name="old_gradient_average",
        point={"gradient_average": "old"},
        origin="TensorFlow.js, where both averages therefore stay equal and the step is lr*g",
        reference="tfjs-core 4.22, src/optimizers/adadelta_optimizer.ts",
        difference="d = sqrt((u + eps)/(a_old + eps))*g",
    ),
    settings=(Setting({"rho": 0.7, "epsilon": 0.1}),),
)
