"""Scalars computed in float32 beside float64 parameters, as frameworks do."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import computing_as, running
from optimetry.conformance.subjects.rules import ANY_GRADIENT
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.books.torch.adamw import AdamW
from optimetry.reference.rule import Rule, State
from optimetry.reference.rules.adam import Adam


class _RoundedRate(RuleRun):
    """A run with every learning rate rounded to float32."""

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply one update."""
        return super().step(grads, float(np.float32(learning_rate)))


class _Power(float):
    """A hyperparameter whose powers are accumulated in float32."""

    def __pow__(self, exponent: Any, modulo: None = None) -> Any:
        product = np.float32(1)
        for _ in range(int(exponent)):
            product *= np.float32(self)
        return float(product)


class Incremental(Adam):
    """Adam with moments formed as increments."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """Do one update, as `Rule.update`."""
        moment1 = state.moment1 + (1 - self.beta1) * (grad - state.moment1)
        moment2 = state.moment2 + (1 - self.beta2) * (np.square(grad) - state.moment2)
        rate = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        return param - rate * moment1 / (np.sqrt(moment2) + self.epsilon), State(moment1=moment1, moment2=moment2)


class _Shared(Incremental):
    """The same with one count for all parameters."""

    step_count = ANY_GRADIENT


def _as_tensorflow(rule: Rule, parameters: list[Array], memory: Memory) -> RuleRun:
    """Runs of that with every number in float32."""
    shared = _Shared(**rule.hyper())
    return _RoundedRate(shared.lifted(lambda name, number: _Power(np.float32(number))), parameters)


class _CombinedInFloat32(AdamW):
    """AdamW whose corrections are combined with the learning rate in float32, before they meet the moments."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        rate, unit, count = np.float32(lr), np.float32(1), np.float32(t)
        factor = float(rate / (unit - np.float32(self.beta1) ** count))
        divisor = float(unit / np.sqrt(unit - np.float32(self.beta2) ** count))
        _, new = super().update(param, grad, state, lr, t)
        root = np.sqrt(new.max_exp_avg_sq if self.amsgrad else new.exp_avg_sq) * divisor
        param = param * (1 - float(rate) * self.weight_decay)
        return param - factor * new.exp_avg / (root + self.eps), new


class _DecayedInFloat32(AdamW):
    """AdamW that scales a parameter by its decay, a factor that is rounded to float32."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        factor = float(np.float32(1 - lr * self.weight_decay))
        hyper: dict[str, Any] = {**self.hyper(), "weight_decay": 0.0}
        step, new = AdamW(**hyper).update(np.zeros_like(param), grad, state, lr, t)
        return param * factor + step, new


enter(
    Fault(
        name="powers_in_float32",
        optimizer="adamax",
        defect="the power of beta1 is accumulated in float32 beside float64 parameters",
        start=running(lambda rule: rule.lifted(lambda name, number: _Power(number))),
        outcome="imprecise: beta1 in float32 in some uses",
        dtypes=("float64",),
    ),
    Fault(
        name="corrections_combined_in_float32",
        optimizer="torch.adamw",
        defect="corrections are combined with the learning rate in float32 beside float64 parameters: MLX",
        start=computing_as(_CombinedInFloat32),
        outcome="imprecise: learning_rate in float32; beta1, beta2 combined in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="decay_factor_in_float32",
        optimizer="torch.adamw",
        defect="a decay scales by 1 - lr*wd, rounded to float32 beside float64 parameters: OLMo-core",
        start=computing_as(_DecayedInFloat32),
        outcome="imprecise: decay factor in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="shared_count_in_float32",
        optimizer="adam",
        defect="one count for all parameters, increments, and float32 beside float64 parameters: TensorFlow's Adam",
        start=_as_tensorflow,
        rejected_by="oracle",
        outcome="dialect: step_count_shared; beta1 in float32; beta2 in float32 in some uses",
        dtypes=("float64",),
    ),
)
