"""Rules that are called Adadelta, and have torch's hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.books.torch.adadelta import Adadelta
from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdadeltaFamily(Adadelta):
    """Adadelta of torch.optim, with a choice at every place where implementations differ."""

    learning_rate_use: str = axis("scales", {"scales": "w -= lr*d", "ignored": "w -= d"})
    gradient_average: str = axis(
        "new",
        {
            "new": "d divides by the root of the average v of squared gradients with this step's in it",
            "old": "d divides by the root of v before this step",
        },
    )
    update_average: str = axis(
        "old",
        {
            "old": "the step is d = sqrt(u + eps)/sqrt(v + eps)*g with u before this step",
            "new": "d is formed again with the u that it has just updated",
        },
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        square_avg = self.rho * state.square_avg + (1 - self.rho) * np.square(grad)
        divisor = np.sqrt((state.square_avg if self.gradient_average == "old" else square_avg) + self.eps)
        delta = np.sqrt(state.acc_delta + self.eps) / divisor * grad
        acc_delta = self.rho * state.acc_delta + (1 - self.rho) * np.square(delta)
        if self.update_average == "new":
            delta = np.sqrt(acc_delta + self.eps) / divisor * grad
        step = lr * delta if self.learning_rate_use == "scales" else delta
        return param - step, State(square_avg=square_avg, acc_delta=acc_delta)


dialect = dialects_of(AdadeltaFamily)

declare(
    dialect(
        name="learning_rate_ignored",
        point={"learning_rate_use": "ignored"},
        origin="Adadelta as published, which has no learning rate, with an L2 penalty",
        reference="Zeiler (2012), algorithm 1",
        difference="w -= d",
    ),
    dialect(
        name="old_gradient_average",
        point={"gradient_average": "old"},
        origin="TensorFlow.js, where both averages therefore stay equal and the step is lr*g",
        reference="tfjs-core 4.22, src/optimizers/adadelta_optimizer.ts",
        difference="d = sqrt(u + eps)/sqrt(v_old + eps)*g",
    ),
    dialect(
        name="new_average_learning_rate_ignored",
        point={"learning_rate_use": "ignored", "update_average": "new"},
        origin="PaddlePaddle 1.8.5 with L2Decay, whose lazily evaluated step is formed after u was overwritten",
        reference="Paddle 1.8, paddle/fluid/operators/optimizers/adadelta_op.h",
        difference="w -= sqrt(u_new + eps)/sqrt(v + eps)*g",
    ),
    settings=tuple(Setting({"rho": 0.7, "eps": 0.1, "weight_decay": 0.5, "maximize": on}) for on in (False, True)),
)
