"""Rules that are called momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.momentum import Momentum


@dataclass(frozen=True, kw_only=True)
class MomentumFamily(Momentum):
    """Momentum, with a choice at every place where implementations differ. The dampening is the momentum itself."""

    learning_rate_placement: str = axis(
        "outside", {"outside": "w -= lr*v", "inside": "v = mu*v + lr*g; w -= v, so a change of lr acts later"}
    )
    dampening: str = axis(
        "none",
        {
            "none": "v = mu*v + g",
            "always": "v = mu*v + (1-mu)*g",
            "after_first_step": "v = g in the first step, v = mu*v + (1-mu)*g after it",
        },
    )
    nesterov_sign: str = axis("plus", {"plus": "g + mu*v", "minus": "g - mu*v"})

    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        inside = self.learning_rate_placement == "inside"
        damped = self.dampening == "always" or (self.dampening == "after_first_step" and t > 1)
        push = lr * grad if inside else grad
        velocity = self.momentum * state.velocity + ((1 - self.momentum) * push if damped else push)
        if not self.use_nesterov:
            direction = velocity
        elif self.nesterov_sign == "plus":
            direction = push + self.momentum * velocity
        else:
            direction = push - self.momentum * velocity
        return param - (direction if inside else lr * direction), State(velocity=velocity)


dialect = dialects_of(MomentumFamily)

declare(
    dialect(
        name="learning_rate_inside",
        point={"learning_rate_placement": "inside"},
        origin="keras.optimizers.SGD(momentum=...)",
        reference="keras/src/optimizers/sgd.py",
        difference="v = mu*v + lr*g; w -= v, with Nesterov w -= lr*g + mu*v",
    ),
    dialect(
        name="dampened",
        point={"dampening": "always"},
        origin="gradient averaging: the first moment of Adam as the direction",
        reference="Kingma & Ba (2015), algorithm 1, the first moment",
        difference="v = mu*v + (1-mu)*g",
    ),
    dialect(
        name="dampened_after_first_step",
        point={"dampening": "after_first_step"},
        origin="torch.optim.SGD(dampening=momentum)",
        reference="torch/optim/sgd.py",
        difference="v = g if t == 1 else mu*v + (1-mu)*g",
    ),
    dialect(
        name="nesterov_minus",
        point={"nesterov_sign": "minus"},
        origin="early PaddlePaddle",
        reference="Paddle before 1.0, paddle/operators/momentum_op.h",
        difference="with Nesterov: w -= lr*(g - mu*v)",
    ),
    settings=(
        Setting({"momentum": 0.7, "use_nesterov": True}),
        Setting({"momentum": 0.7, "use_nesterov": False}),
    ),
)
