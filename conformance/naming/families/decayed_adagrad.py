"""Rules that are called decayed Adagrad, or RMSProp without momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.decayed_adagrad import DecayedAdagrad


@dataclass(frozen=True, kw_only=True)
class DecayedAdagradFamily(DecayedAdagrad):
    """Decayed Adagrad, with a choice at every place where implementations differ."""

    epsilon_placement: str = axis("outside", {"outside": "sqrt(m) + eps", "inside": "sqrt(m + eps)"})
    initial_value: str = axis("0", {"0": "m_0 = 0", "1": "m_0 = 1"})

    def initial_state(self, param: Array) -> State:
        return State(moment=np.zeros_like(param) + (1.0 if self.initial_value == "1" else 0.0))

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = self.decay * state.moment + (1 - self.decay) * np.square(grad)
        outside = self.epsilon_placement == "outside"
        root = np.sqrt(moment) + self.epsilon if outside else np.sqrt(moment + self.epsilon)
        return param - lr * grad / root, State(moment=moment)


dialect = dialects_of(DecayedAdagradFamily)

declare(
    dialect(
        name="epsilon_inside",
        point={"epsilon_placement": "inside"},
        origin="keras.optimizers.RMSprop and optax.rmsprop, both without momentum",
        reference="keras/src/optimizers/rmsprop.py; optax/_src/transform.py, scale_by_rms",
        difference="w -= lr*g / sqrt(m + eps)",
    ),
    dialect(
        name="initial_value",
        point={"initial_value": "1"},
        origin="optax.rmsprop(eps_in_sqrt=False, initial_scale=1)",
        reference="optax/_src/alias.py, rmsprop; optax/_src/transform.py, scale_by_rms",
        difference="m_0 = 1",
    ),
    dialect(
        name="epsilon_inside_initial_value",
        point={"epsilon_placement": "inside", "initial_value": "1"},
        origin="tf.compat.v1.train.RMSPropOptimizer and timm's RMSpropTF, both without momentum",
        reference="tensorflow/python/training/rmsprop.py; timm/optim/rmsprop_tf.py",
        difference="m_0 = 1; w -= lr*g / sqrt(m + eps)",
    ),
    settings=(Setting({"decay": 0.7, "epsilon": 0.1}),),
)
