"""Rules that are called RMSProp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.rmsprop import RMSProp


@dataclass(frozen=True, kw_only=True)
class RMSPropFamily(RMSProp):
    """RMSProp, with a choice at every place where implementations differ; x is r, or r - a^2 when centered."""

    epsilon_placement: str = axis("inside", {"inside": "sqrt(x + eps)", "outside": "sqrt(x) + eps"})
    learning_rate_placement: str = axis(
        "inside", {"inside": "v = mu*v + lr*g/root; w -= v", "outside": "v = mu*v + g/root; w -= lr*v"}
    )
    momentum_kind: str = axis(
        "heavy_ball",
        {
            "heavy_ball": "w moves along v",
            "nesterov": "w moves along mu*v plus the last addend of v",
            "of_gradients": "v adds up gradients, and is divided by the root of the last step: w moves along v/root",
        },
    )
    initial_value: str = axis("0", {"0": "r_0 = 0", "1": "r_0 = 1"})

    def initial_state(self, param: Array) -> State:
        state = super().initial_state(param)
        if self.initial_value == "0":
            return state
        return State(**{**state, "mean_square": np.zeros_like(param) + 1.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        mean_square = self.rho * state.mean_square + (1 - self.rho) * np.square(grad)
        mean_grad = self.rho * state.mean_grad + (1 - self.rho) * grad if self.centered else state.mean_grad
        variance = mean_square - np.square(mean_grad) if self.centered else mean_square
        outside = self.epsilon_placement == "outside"
        root = np.sqrt(variance) + self.epsilon if outside else np.sqrt(variance + self.epsilon)

        inside = self.learning_rate_placement == "inside"
        if self.momentum_kind == "of_gradients":
            velocity = self.momentum * state.velocity + (lr * grad if inside else grad)
            step = velocity / root if inside else lr * velocity / root
            return param - step, State(mean_square=mean_square, mean_grad=mean_grad, velocity=velocity)
        push = lr * grad / root if inside else grad / root
        velocity = self.momentum * state.velocity + push
        direction = velocity if self.momentum_kind == "heavy_ball" else push + self.momentum * velocity
        # Outside and without momentum no v is needed, and where lr*g is subnormal the order matters.
        step = direction if inside else np.where(self.momentum == 0, lr * grad / root, lr * direction)
        return param - step, State(mean_square=mean_square, mean_grad=mean_grad, velocity=velocity)


dialect = dialects_of(RMSPropFamily)

declare(
    dialect(
        name="epsilon_outside",
        point={"epsilon_placement": "outside"},
        origin="optax.rmsprop(eps_in_sqrt=False)",
        reference="optax/_src/transform.py, scale_by_rms",
        difference="v = mu*v + lr*g / (sqrt(r) + eps)",
    ),
    dialect(
        name="learning_rate_outside",
        point={"learning_rate_placement": "outside"},
        origin="torch.optim.RMSprop where epsilon is 0; known otherwise only together with epsilon outside the root",
        reference="torch/optim/rmsprop.py",
        difference="v = mu*v + g / sqrt(r + eps); w -= lr*v",
    ),
    dialect(
        name="epsilon_and_learning_rate_outside",
        point={"epsilon_placement": "outside", "learning_rate_placement": "outside"},
        origin="torch.optim.RMSprop",
        reference="torch/optim/rmsprop.py",
        difference="v = mu*v + g / (sqrt(r) + eps); w -= lr*v",
    ),
    dialect(
        name="nesterov",
        point={"momentum_kind": "nesterov"},
        origin="optax.rmsprop(nesterov=True); the words, not the equation, of fluid.optimizer.RMSPropOptimizer",
        reference="optax/_src/transform.py, trace",
        difference="d = lr*g / sqrt(r + eps); v = mu*v + d; w -= d + mu*v",
    ),
    dialect(
        name="initial_value",
        point={"initial_value": "1"},
        origin="tf.compat.v1.train.RMSPropOptimizer, timm's RMSpropTF",
        reference="tensorflow/python/training/rmsprop.py, init_rms; timm/optim/rmsprop_tf.py",
        difference="r_0 = 1",
    ),
    dialect(
        name="velocity_of_gradients",
        point={
            "epsilon_placement": "outside",
            "learning_rate_placement": "outside",
            "momentum_kind": "of_gradients",
        },
        origin="fastai.optimizer.RMSProp, which does not pass its epsilon on",
        reference="fastai/optimizer.py, average_grad and rms_prop_step",
        difference="v = mu*v + g; w -= lr*v / (sqrt(r) + eps)",
    ),
    settings=tuple(
        Setting({"rho": 0.7, "epsilon": 0.1, "momentum": 0.6, "centered": centered}) for centered in (False, True)
    ),
)
