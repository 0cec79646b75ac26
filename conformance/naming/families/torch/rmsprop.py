"""Rules that are called RMSprop, and have torch's hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.books.torch.rmsprop import RMSprop
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class RMSpropFamily(RMSprop):
    """RMSprop of torch.optim, with a choice at every place where implementations differ; x is v, or v - a^2."""

    epsilon_placement: str = axis("outside", {"outside": "sqrt(x) + eps", "inside": "sqrt(x + eps)"})
    learning_rate_placement: str = axis(
        "outside", {"outside": "b = mu*b + g/root; w -= lr*b", "inside": "b = mu*b + lr*g/root; w -= b"}
    )
    initial_value: str = axis("0", {"0": "v_0 = 0", "1": "v_0 = 1"})

    def initial_state(self, param: Array) -> State:
        state = super().initial_state(param)
        return state if self.initial_value == "0" else State(**{**state, "square_avg": np.zeros_like(param) + 1.0})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        square_avg = self.alpha * state.square_avg + (1 - self.alpha) * np.square(grad)
        grad_avg = self.alpha * state.grad_avg + (1 - self.alpha) * grad if self.centered else state.grad_avg
        variance = square_avg - np.square(grad_avg) if self.centered else square_avg
        outside = self.epsilon_placement == "outside"
        root = np.sqrt(variance) + self.eps if outside else np.sqrt(variance + self.eps)
        inside = self.learning_rate_placement == "inside"
        buffer = self.momentum * state.momentum_buffer + (lr * grad / root if inside else grad / root)
        step = np.where(self.momentum > 0, buffer if inside else lr * buffer, lr * grad / root)
        return param - step, State(square_avg=square_avg, grad_avg=grad_avg, momentum_buffer=buffer)


dialect = dialects_of(RMSpropFamily)

declare(
    dialect(
        name="epsilon_inside",
        point={"epsilon_placement": "inside"},
        origin="oneflow.optim.RMSprop and singa.opt.RMSProp, which have no momentum",
        reference="python/oneflow/nn/optimizer/rmsprop.py; python/singa/opt.py",
        difference="b = mu*b + g / sqrt(x + eps)",
    ),
    dialect(
        name="epsilon_and_learning_rate_inside",
        point={"epsilon_placement": "inside", "learning_rate_placement": "inside"},
        origin="fluid.optimizer.RMSPropOptimizer, keras.optimizers.RMSprop, optax.rmsprop",
        reference="keras/src/optimizers/rmsprop.py; optax/_src/alias.py, rmsprop",
        difference="b = mu*b + lr*g / sqrt(x + eps); w -= b",
    ),
    dialect(
        name="initial_value",
        point={"initial_value": "1"},
        origin="a state of ones, as TensorFlow 1 has it; no release known that keeps the documented epsilon",
        reference="tensorflow/python/training/rmsprop.py, init_rms",
        difference="v_0 = 1",
    ),
    dialect(
        name="epsilon_and_learning_rate_inside_initial_value",
        point={"epsilon_placement": "inside", "learning_rate_placement": "inside", "initial_value": "1"},
        origin="tf.compat.v1.train.RMSPropOptimizer, timm's RMSpropTF",
        reference="tensorflow/python/training/rmsprop.py, init_rms; timm/optim/rmsprop_tf.py",
        difference="v_0 = 1; b = mu*b + lr*g / sqrt(x + eps); w -= b",
    ),
    settings=tuple(
        Setting({"alpha": 0.7, "eps": 0.1, "weight_decay": 0.5, "momentum": 0.6, "centered": on, "maximize": on})
        for on in (False, True)
    ),
)
