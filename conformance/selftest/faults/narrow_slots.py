"""Slots in less precision that enter each update there: products are rounded, numbers, new slots, or steps."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import computing_as, rounded
from optimetry.reference.books.papers.lion import Lion
from optimetry.reference.precision import working
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.adam import Adam
from optimetry.reference.rules.decayed_adagrad import DecayedAdagrad
from optimetry.reference.rules.momentum import Momentum

_half = partial(rounded, dtype=ml_dtypes.bfloat16)


def _kept(array: Array) -> Array:
    return working(_half(np.array(array)))


def _number(number: float) -> float:
    return float(np.asarray(number).astype(ml_dtypes.bfloat16))


def _in_bfloat16(number: float, slot: Array) -> Array:
    """The product of two numbers of bfloat16."""
    product = np.asarray(slot).astype(ml_dtypes.bfloat16) * np.asarray(number).astype(ml_dtypes.bfloat16)
    return working(np.asarray(product).astype(slot.dtype))


class _MultipliedThere(Adam):
    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment1 = _in_bfloat16(self.beta1, state.moment1) + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        rate = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        after = State(moment1=_kept(moment1), moment2=moment2)
        return param - rate * moment1 / (np.sqrt(moment2) + self.epsilon), after


class _ByRoundedNumbers(Lion):
    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        average = _number(self.beta1) * state.m + (1 - self.beta1) * grad
        param = param - lr * self.weight_decay * param
        m = _number(self.beta2) * state.m + (1 - self.beta2) * grad
        return param - lr * np.sign(average), State(m=_kept(m))


class _UpdatedThere(DecayedAdagrad):
    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment = _kept(_kept(self.decay * state.moment) + (1 - self.decay) * np.square(grad))
        return param - lr * grad / (np.sqrt(moment) + self.epsilon), State(moment=moment)


class _RoundedBeforeTheStep(Momentum):
    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        velocity = _kept(self.momentum * state.velocity + grad)
        direction = grad + self.momentum * velocity if self.use_nesterov else velocity
        return param - lr * direction, State(velocity=velocity)


def _single(array: Array) -> Any:
    return np.array(array, np.float32)


class _StepsFromFloat32(Adam):
    """As NumPy computes: in float32 what is made of float32 arrays and Python numbers alone."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        beta1, beta2 = float(self.beta1), float(self.beta2)
        moment1 = _single(beta1 * _single(state.moment1) + (1 - beta1) * grad)
        moment2 = _single(beta2 * _single(state.moment2) + (1 - beta2) * np.square(grad))
        rate = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        step = rate * moment1.astype(grad.dtype) / (np.sqrt(moment2) + float(self.epsilon))
        return param - step, State(moment1=moment1.astype(grad.dtype), moment2=moment2.astype(grad.dtype))


enter(
    Fault(
        name="state_multiplied_in_bfloat16",
        optimizer="adam",
        defect="the first moment is of bfloat16, and so is its product with a Python number: Optax with mu_dtype",
        start=computing_as(_MultipliedThere),
        outcome="imprecise: documented, but keeps moment1 in bfloat16, multiplied there",
    ),
    Fault(
        name="state_multiplied_by_bfloat16",
        optimizer="papers.lion",
        defect="the numbers that multiply a momentum of bfloat16 become bfloat16: Optax with mu_dtype, compiled",
        start=computing_as(_ByRoundedNumbers),
        outcome="imprecise: documented, but keeps m in bfloat16, multiplied by numbers rounded to it",
    ),
    Fault(
        name="state_updated_in_bfloat16",
        optimizer="decayed_adagrad",
        defect="an average of bfloat16 is updated in place, by mul_ and addcmul_ of torch, and the step divides by it",
        start=computing_as(_UpdatedThere),
        outcome="imprecise: documented, but keeps moment in bfloat16, updated there",
    ),
    Fault(
        name="state_rounded_before_the_step",
        optimizer="momentum",
        defect="the new velocity is copied to an array of bfloat16, from which the step is computed",
        start=computing_as(_RoundedBeforeTheStep),
        outcome="imprecise: documented, but keeps velocity in bfloat16, rounded before the step",
    ),
    Fault(
        name="steps_from_float32_moments",
        optimizer="adam",
        defect="moments are made in the default dtype of a library, float32, beside parameters of float64",
        start=computing_as(_StepsFromFloat32),
        outcome="imprecise: documented, but uses moment1 and moment2 in float32",
        dtypes=("float64",),
    ),
)
