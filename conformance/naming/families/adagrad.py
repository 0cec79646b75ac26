"""Rules that are called Adagrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.adagrad import Adagrad


@dataclass(frozen=True, kw_only=True)
class AdagradFamily(Adagrad):
    """Adagrad, with a choice at every place where implementations differ."""

    epsilon_placement: str = axis(
        "outside",
        {
            "outside": "sqrt(m) + eps",
            "inside": "sqrt(m + eps)",
            "none": "sqrt(m), and no step where m = 0",
            "none_unguarded": "sqrt(m): 0/0 before the first gradient where m_0 = 0",
        },
    )
    initial_value: str = axis("documented", {"documented": "initial_accumulator_value", "0.1": "always 0.1"})

    framework_initial_value: ClassVar[float] = 0.1

    def initial_state(self, param: Array) -> State:
        if self.initial_value == "documented":
            return super().initial_state(param)
        return State(moment=np.zeros_like(param) + self.framework_initial_value)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = state.moment + np.square(grad)
        if self.epsilon_placement == "outside":
            root = np.sqrt(moment) + self.epsilon
        elif self.epsilon_placement == "inside":
            root = np.sqrt(moment + self.epsilon)
        else:
            root = np.sqrt(moment)
        step = lr * grad / root
        if self.epsilon_placement == "none":
            step = np.where(moment > 0, step, 0.0)
        return param - step, State(moment=moment)


dialect = dialects_of(AdagradFamily)

declare(
    dialect(
        name="epsilon_inside",
        point={"epsilon_placement": "inside"},
        origin="optax.adagrad, keras.optimizers.Adagrad, both with their initial value set",
        reference="optax/_src/transform.py, scale_by_rss; keras/src/optimizers/adagrad.py",
        difference="w -= lr*g / sqrt(m + eps)",
    ),
    dialect(
        name="initial_value",
        point={"initial_value": "0.1"},
        origin="the default initial value of optax, Keras and TensorFlow kept beside the documented epsilon",
        reference="keras/src/optimizers/adagrad.py, initial_accumulator_value",
        difference="m_0 = 0.1",
    ),
    dialect(
        name="epsilon_inside_initial_value",
        point={"epsilon_placement": "inside", "initial_value": "0.1"},
        origin="optax.adagrad, keras.optimizers.Adagrad, both by default",
        reference="optax/_src/alias.py, adagrad; keras/src/optimizers/adagrad.py",
        difference="m_0 = 0.1; w -= lr*g / sqrt(m + eps)",
    ),
    dialect(
        name="no_epsilon",
        point={"epsilon_placement": "none"},
        origin="jax.example_libraries.optimizers.adagrad(momentum=0)",
        reference="jax/example_libraries/optimizers.py, adagrad",
        difference="w -= lr*g / sqrt(m), and nothing where m = 0",
    ),
    dialect(
        name="no_epsilon_unguarded",
        point={"epsilon_placement": "none_unguarded"},
        origin="tf.compat.v1.train.AdagradOptimizer with its initial value set",
        reference="tensorflow/core/kernels/training_ops.cc, ApplyAdagrad",
        difference="w -= lr*g / sqrt(m), 0/0 before the first gradient where m_0 = 0",
    ),
    dialect(
        name="no_epsilon_initial_value",
        point={"epsilon_placement": "none_unguarded", "initial_value": "0.1"},
        origin="tf.compat.v1.train.AdagradOptimizer by default",
        reference="tensorflow/python/training/adagrad.py; tensorflow/core/kernels/training_ops.cc, ApplyAdagrad",
        difference="m_0 = 0.1; w -= lr*g / sqrt(m)",
    ),
    settings=tuple(Setting({"epsilon": 0.1, "initial_accumulator_value": value}) for value in (0.3, 0.0)),
)
