"""Everything, or what a tensor is scaled by, computed in a format narrower than the parameters', and then widened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import computing_as, dialect_of
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State
from optimetry.reference.rules.adadelta import Adadelta
from optimetry.reference.rules.lars_momentum import LarsMomentum


class NarrowedRun:
    """A run of a rule on arrays of a narrower dtype."""

    def __init__(self, rule: Rule, parameters: list[Array], dtype: Any) -> None:
        self.dtype, self.own = dtype, [param.dtype for param in parameters]
        self.run = RuleRun(rule, self.narrowed(parameters))

    def narrowed(self, arrays: Sequence[Array | None]) -> list[Any]:
        """Round arrays to the narrower dtype."""
        with np.errstate(over="ignore"):
            return [None if array is None else array.astype(self.dtype) for array in arrays]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply one update, of arrays that are narrowed first."""
        after = self.run.step(self.narrowed(grads), learning_rate)
        return [param.astype(own) for param, own in zip(after, self.own, strict=True)]


class SteppedRun(NarrowedRun):
    """A run whose steps alone are of a narrower dtype, of a rule whose steps do not depend on the parameters."""

    def __init__(self, rule: Rule, parameters: list[Array], dtype: Any) -> None:
        super().__init__(rule, parameters, dtype)
        self.parameters = [param.copy() for param in parameters]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply one update to zeros, and add what becomes of them."""
        self.run.training.parameters = [working(np.zeros_like(param)) for param in self.run.training.parameters]
        steps = super().step(grads, learning_rate)
        with np.errstate(all="ignore"):
            self.parameters = [param + step for param, step in zip(self.parameters, steps, strict=True)]
        return [param.copy() for param in self.parameters]


class OfGradients(Adadelta):
    """Adadelta whose second average is of gradients, too, which nobody has declared."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        squares = (1 - self.rho) * np.square(grad)
        squared_grad, squared_update = (self.rho * average + squares for average in state.values())
        delta = np.sqrt((state.avg_squared_update + self.epsilon) / (squared_grad + self.epsilon)) * grad
        return param - lr * delta, State(avg_squared_grad=squared_grad, avg_squared_update=squared_update)


class LocalRateInFloat32(LarsMomentum):
    """LARS whose norms, and the local rate of them, are computed in float32."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        single, decay = np.float32, self.lars_weight_decay
        size, slope = (np.sqrt(np.sum(np.square(np.asarray(x, single)), initial=single(0))) for x in (param, grad))
        rate = single(lr)
        if size > 0 and slope > 0:
            rate = rate * single(self.lars_coeff) * size / (slope + single(decay) * size)
        velocity = self.momentum * state.velocity + float(rate) * (grad + decay * param)
        return param - velocity, State(velocity=velocity)


def computing_in(dtype: Any, other: Callable[[Rule], Rule] = lambda rule: rule) -> Start:
    """Runs of the documented rule, or of what is made of it, in a narrower dtype."""

    def start(rule: Rule, parameters: list[Array], memory: Memory) -> NarrowedRun:
        return NarrowedRun(other(rule), parameters, dtype)

    return start


enter(
    Fault(
        name="computed_in_float32",
        optimizer="adagrad",
        defect="float64 arrays are rounded to float32 before anything is computed: Keras' NumPy backend",
        start=computing_in(np.float32),
        outcome="imprecise: computed in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="computed_in_bfloat16",
        optimizer="torch.nadam",
        defect="float32 arrays are rounded to bfloat16 before anything is computed, as matrices are under autocast",
        start=computing_in(ml_dtypes.bfloat16),
        outcome="imprecise: computed in bfloat16",
        dtypes=("float32",),
    ),
    Fault(
        name="steps_in_float32",
        optimizer="papers.adam",
        defect="gradients, moments and steps of float32 beside float64 parameters: rollfast",
        start=lambda rule, parameters, memory: SteppedRun(rule, parameters, np.float32),
        outcome="imprecise: steps computed in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="uncorrected_in_float32",
        optimizer="torch.adamw",
        defect="another formula, and float64 arrays rounded to float32: Keras' NumPy backend",
        start=computing_in(np.float32, lambda rule: dialect_of(rule, "uncorrected_epsilon")),
        outcome="dialect: uncorrected_epsilon; computed in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="momentum_ignored_in_float32",
        optimizer="torch.rmsprop",
        defect="a momentum is taken and never used, and float64 arrays rounded to float32: bitsandbytes' RMSprop",
        start=computing_in(np.float32, lambda rule: type(rule).of({**rule.hyper(), "momentum": 0.0})),
        outcome="diverges: documented with momentum = 0 whatever is given; computed in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="edited_in_float32",
        optimizer="adadelta",
        defect="a formula that nobody has declared, and float64 arrays rounded to float32",
        start=computing_in(np.float32, lambda rule: OfGradients.of(rule.hyper())),
        outcome="dialect: found; computed in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="local_rate_in_float32",
        optimizer="lars_momentum",
        defect="norms and the local rate are computed in float32 beside float64 parameters: MXNet",
        start=computing_as(LocalRateInFloat32),
        outcome="imprecise: norm in float32",
        dtypes=("float64",),
    ),
)
