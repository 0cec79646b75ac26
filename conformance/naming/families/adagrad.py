"""Rules that are called Adagrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.adagrad import Adagrad


@dataclass(frozen=True, kw_only=True)
class AdagradFamily(Adagrad):
    """Adagrad, with a choice at every place where implementations differ."""

    epsilon_placement: str = axis("outside", {"outside": "sqrt(m) + eps", "inside": "sqrt(m + eps)"})
    initial_value: str = axis("documented", {"documented": "initial_accumulator_value", "0.1": "always 0.1"})

    framework_initial_value: ClassVar[float] = 0.1

    def initial_state(self, param: Array) -> State:
        if self.initial_value == "documented":
            return super().initial_state(param)
        return State(moment=np.zeros_like(param) + self.framework_initial_value)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = state.moment + np.square(grad)
        outside = self.epsilon_placement == "outside"
        root = np.sqrt(moment) + self.epsilon if outside else np.sqrt(moment + self.epsilon)
        return param - lr * grad / root, State(moment=moment)


declare(
    Dialect(
        name="epsilon_inside",
        family=AdagradFamily,
        point={"epsilon_placement": "inside"},
        origin="optax.adagrad, keras.optimizers.Adagrad, both with their initial value set",
        reference="optax/_src/transform.py, scale_by_rss; keras/src/optimizers/adagrad.py",
        difference="w -= lr*g / sqrt(m + eps)",
    ),
    Dialect(
        name="initial_value",
        family=AdagradFamily,
        point={"initial_value": "0.1"},
        origin="the default initial value of optax, Keras and TensorFlow kept beside the documented epsilon",
        reference="keras/src/optimizers/adagrad.py, initial_accumulator_value",
        difference="m_0 = 0.1",
    ),
    Dialect(
        name="epsilon_inside_initial_value",
        family=AdagradFamily,
        point={"epsilon_placement": "inside", "initial_value": "0.1"},
        origin="optax.adagrad, keras.optimizers.Adagrad, both by default",
        reference="optax/_src/alias.py, adagrad; keras/src/optimizers/adagrad.py",
        difference="m_0 = 0.1; w -= lr*g / sqrt(m + eps)",
    ),
    settings=(Setting({"epsilon": 0.1, "initial_accumulator_value": 0.3}),),
)
