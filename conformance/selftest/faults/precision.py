"""Numbers held or computed in less precision than the parameters have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import HookedRun, Hooks, hooked, rounded, running
from optimetry.conformance.selftest.faults.mutations import mutated
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.subjects.wrappers.averages import SCHEDULE
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule


def _scalar_through(dtype: Any) -> Callable[[float], float]:
    return lambda number: float(np.asarray(number).astype(dtype))


def _hyperparameters_in(dtype: Any) -> Start:
    """Runs with every real hyperparameter rounded, and the learning rate as it is."""
    through = _scalar_through(dtype)
    return running(lambda rule: rule.lifted(lambda name, number: through(number)))


def _all_in_float32(rule: Rule, parameters: list[Array], memory: Memory) -> HookedRun:
    through = _scalar_through(np.float32)
    hooks = Hooks(rate=lambda rates: through(rates[-1]))
    return HookedRun(rule.lifted(lambda name, number: through(number)), parameters, hooks)


def _step_in(dtype: Any) -> Start:
    """Runs that subtract a step rounded to a dtype."""

    def parameter(before: Array, after: Array) -> Array:
        with np.errstate(all="ignore"):
            return (before + rounded(after - before, dtype)).astype(after.dtype)

    return hooked(parameter=parameter)


IN_THREE_PARTS = (
    (
        "grad = with_decay(grad, param, self.weight_decay)",
        "first, decay = grad, self.weight_decay * param; grad = first + decay",
    ),
    ("direction = grad + self.momentum * buffer if self.nesterov else buffer", "ahead = self.momentum * buffer"),
    (
        "return np.where(self.momentum != 0, param - lr * direction, plain),",
        (
            "parts = (first, decay, ahead) if self.nesterov else (buffer,) if self.momentum else (first, decay)\n"
            "    for part in parts: param = param - lr * part\n    return param,"
        ),
    ),
)


def _rounded(arithmetic: Arithmetic) -> Start:
    """Runs of the documented formula, computed with less precision than the dtype promises."""
    return running(lambda rule: Explanation(documented_class(rule.name), arithmetic).computed(rule.hyper()))


def _without_subnormals(array: Array) -> Array:
    return np.where(np.abs(array) < FORMATS[array.dtype.name].smallest_normal, array.dtype.type(0), array)


class _DoublesSubnormals(RuleRun):
    """A run that doubles subnormal results of parameters that have a gradient."""

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        results = [
            array if grad is None else np.where(np.abs(array) < FORMATS[array.dtype.name].smallest_normal, 2, 1) * array
            for array, grad in zip(after, grads, strict=True)
        ]
        kept = [np.asarray(result, array.dtype) for result, array in zip(results, after, strict=True)]
        self.training.parameters = [working(array) for array in kept]
        return kept


def _truncated(before: Array, after: Array) -> Array:
    """``after`` with its last four bits cut off."""
    bits = np.dtype(f"u{after.dtype.itemsize}")
    kept: Array = (after.view(bits) & ~bits.type(15)).view(after.dtype)
    return kept


def _saturated(before: Array, after: Array) -> Array:
    largest = FORMATS[after.dtype.name].largest
    return np.where(np.isinf(after), np.sign(after) * largest, after).astype(after.dtype)


enter(
    Fault(
        name="state_in_float16",
        optimizer="adam",
        defect="moments held in float16 beside wider parameters, unscaled: small squares become 0",
        start=hooked(slot=partial(rounded, dtype=np.float16)),
        outcome="imprecise: documented, but keeps moment1 and moment2 in float16",
    ),
    Fault(
        name="state_in_bfloat16",
        optimizer="momentum",
        defect="velocity held in bfloat16 beside wider parameters, to save memory",
        start=hooked(slot=partial(rounded, dtype=ml_dtypes.bfloat16)),
        outcome="imprecise: documented, but keeps velocity in bfloat16",
    ),
    Fault(
        name="state_in_float32",
        optimizer="adagrad",
        defect="state held in float32 beside float64 parameters",
        start=hooked(slot=partial(rounded, dtype=np.float32)),
        dtypes=("float64",),
        outcome="imprecise: documented, but keeps moment in float32",
    ),
    Fault(
        name="parameters_in_bfloat16",
        optimizer="sgd",
        defect="parameters held in bfloat16 between steps, without a master copy",
        start=hooked(parameter=lambda before, after: rounded(after, ml_dtypes.bfloat16)),
        outcome="imprecise: documented, but keeps the parameters in bfloat16",
    ),
    Fault(
        name="parameters_in_float32",
        optimizer="papers.lion",
        defect="float64 parameters held in float32 between steps, which is no rounded factor of their decay",
        start=hooked(parameter=lambda before, after: rounded(after, np.float32)),
        dtypes=("float64",),
        outcome="imprecise: documented, but keeps the parameters in float32",
    ),
    Fault(
        name="step_in_float16",
        optimizer="lars_momentum",
        defect="the step is rounded to float16 before it is applied",
        start=_step_in(np.float16),
        outcome="imprecise: documented, but rounds each step to float16",
    ),
    Fault(
        name="step_in_float32",
        optimizer="ftrl",
        defect="the step is rounded to float32 beside float64 parameters",
        start=_step_in(np.float32),
        dtypes=("float64",),
        outcome="imprecise: documented, but rounds each step to float32",
    ),
    Fault(
        name="hyperparameters_in_float32",
        optimizer="rmsprop",
        defect="hyperparameters held in float32 beside float64 parameters: PaddlePaddle 3.3, some rules",
        start=_hyperparameters_in(np.float32),
        outcome="imprecise: rho, epsilon, momentum in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="all_numbers_in_float32",
        optimizer="adam",
        defect="hyperparameters and learning rate held in float32 beside float64 parameters: PaddlePaddle 1.8.5",
        start=_all_in_float32,
        outcome="imprecise: beta1, beta2, epsilon, learning_rate in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="learning_rate_in_float32",
        optimizer="sgd",
        defect="the learning rate is held in float32 beside float64 parameters",
        start=hooked(rate=lambda rates: float(np.float32(rates[-1]))),
        outcome="imprecise: learning_rate in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="hyperparameters_in_bfloat16",
        optimizer="adam",
        defect="hyperparameters held in bfloat16: 0.999 becomes 1, and the second moment stays 0",
        start=_hyperparameters_in(ml_dtypes.bfloat16),
        outcome="imprecise: documented, but rounds its hyperparameters to bfloat16",
    ),
    Fault(
        name="hyperparameters_in_float16",
        optimizer="lamb",
        defect="hyperparameters held in float16 beside float32 parameters",
        start=_hyperparameters_in(np.float16),
        outcome="imprecise: documented, but rounds its hyperparameters to float16",
    ),
    Fault(
        name="divisor_enlarged",
        optimizer="decayed_adagrad",
        defect="every quotient adds 1e-18 to its divisor, which hides behind the rounding of epsilon to float32: nujo",
        start=running(lambda rule: rule.lifted(lambda name, number: number + 1e-18 if name == "epsilon" else number)),
        dtypes=("float64",),
    ),
    Fault(
        name="step_in_three_parts",
        optimizer="torch.sgd",
        defect="gradient, decay and momentum are subtracted one after the other, each difference rounded",
        start=mutated("torch.sgd", *IN_THREE_PARTS),
        rejected_by="oracle",
        outcome="imprecise: step subtracted in parts",
        dtypes=("float64",),
    ),
    Fault(
        name="average_by_increments",
        optimizer="exponential_moving_average",
        defect="e += (1-d)*(w - e), rounded like the larger of w and e: hand-written averages",
        start=_rounded(Arithmetic(incremental_moments=True)),
        rejected_by="oracle",
        outcome="imprecise: moments formed as increments",
    ),
    Fault(
        name="schedule_in_float32",
        optimizer="exponential_moving_average",
        defect="the decays of the schedule are held in float32 beside float64 parameters: PaddlePaddle 1.8.5",
        start=_rounded(Arithmetic(float32=(SCHEDULE,))),
        rejected_by="oracle",
        outcome="imprecise: schedule in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="norm_in_float32",
        optimizer="clip_by_norm",
        defect="|g| passes through float32 beside float64 gradients: Keras on torch",
        start=_rounded(Arithmetic(float32_norm=True)),
        rejected_by="oracle",
        outcome="imprecise: norm in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="global_norm_in_float32",
        optimizer="clip_by_global_norm",
        defect="|all g| and c/|all g| pass through float32 beside float64 gradients: Keras on torch",
        start=_rounded(Arithmetic(float32_norm=True)),
        rejected_by="oracle",
        outcome="imprecise: norm in float32",
        dtypes=("float64",),
    ),
    Fault(
        name="subnormal_gradients_flushed",
        optimizer="sgd",
        defect="subnormal gradients count as zero, as compiled with -ffast-math",
        start=hooked(gradient=_without_subnormals),
        outcome="conforms: flushes subnormals",
    ),
    Fault(
        name="subnormal_state_flushed",
        optimizer="adamax",
        defect="state is flushed to zero below the smallest normal number",
        start=hooked(slot=_without_subnormals),
        outcome="conforms: flushes subnormals",
    ),
    Fault(
        name="subnormals_doubled",
        optimizer="sgd",
        defect="a subnormal result is doubled, where flushing would make it zero",
        start=run_as(_DoublesSubnormals),
        rejected_by="subnormal_rest",
    ),
    Fault(
        name="last_bits_truncated",
        optimizer="asgd",
        defect="the last four bits of every parameter are cut off, as a lossy copy does",
        start=hooked(parameter=_truncated),
    ),
    Fault(
        name="overflow_saturated",
        optimizer="sgd",
        defect="an overflow gives the largest finite number, and so does an infinite gradient",
        start=hooked(parameter=_saturated),
        rejected_by="nonfinite_gradients_act",
    ),
)
