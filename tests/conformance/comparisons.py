"""Runs that tell formulas apart, on bounds, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import default_environment
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import Format, scalar_format
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject

# Hyperparameters at which implementations that agree by default do not.
TORCH_ADAM = {"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "weight_decay": 0.3}

HYPERS: dict[str, list[dict[str, Any]]] = {
    "sgd": [{}],
    "momentum": [{"momentum": 0.7, "use_nesterov": nesterov} for nesterov in (False, True)],
    "lars_momentum": [{"momentum": 0.7, "lars_coeff": 0.1, "lars_weight_decay": decay} for decay in (0.0, 0.3)],
    "adagrad": [{"epsilon": 0.1, "initial_accumulator_value": value} for value in (0.0, 0.3)],
    "decayed_adagrad": [{"decay": 0.7, "epsilon": 0.1}],
    "adadelta": [{"rho": 0.7, "epsilon": 0.1}],
    "adam": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}],
    "adamax": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}],
    "rmsprop": [{"rho": 0.9, "epsilon": 0.1, "momentum": 0.7, "centered": centered} for centered in (False, True)],
    "ftrl": [{"l1": 0.0, "l2": 0.0}, {"l1": 0.1, "l2": 0.3, "lr_power": -0.3}],
    "lamb": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1, "lamb_weight_decay": decay} for decay in (0.0, 0.3)],
    "asgd": [{"batch_num": 2, "weight_decay": 0.3}],
    "torch.sgd": [
        {"momentum": momentum, "dampening": 0.3, "weight_decay": 0.3, "nesterov": nesterov}
        for momentum, nesterov in ((0.7, False), (0.7, True), (0.0, False))
    ],
    "torch.adagrad": [{"lr_decay": 0.7, "weight_decay": 0.3, "initial_accumulator_value": 0.3, "eps": 0.1}],
    "torch.adadelta": [{"rho": 0.7, "eps": 0.1, "weight_decay": 0.3, "maximize": on} for on in (False, True)],
    "torch.sparse_adam": [{"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "maximize": on} for on in (False, True)],
    "torch.adam": [{**TORCH_ADAM, "amsgrad": on, "maximize": on, "decoupled_weight_decay": on} for on in (False, True)],
    "torch.adamw": [{**TORCH_ADAM, "amsgrad": amsgrad} for amsgrad in (False, True)],
    "torch.adamax": [TORCH_ADAM],
    "torch.nadam": [{**TORCH_ADAM, "momentum_decay": 0.7, "decoupled_weight_decay": on} for on in (False, True)],
    "torch.radam": [{**TORCH_ADAM, "decoupled_weight_decay": on} for on in (False, True)],
    "torch.rmsprop": [
        {"alpha": 0.9, "eps": 0.1, "momentum": 0.7, "weight_decay": 0.3, "centered": centered}
        for centered in (False, True)
    ],
    "torch.adafactor": [
        {"beta2_decay": -0.3, "eps1": 0.1, "eps2": 0.3, "d": 1.03, "weight_decay": 0.3, "maximize": on}
        for on in (False, True)
    ],
    "torch.muon": [
        {"momentum": 0.7, "weight_decay": 0.3, "nesterov": nesterov, "eps": eps, "ns_steps": steps}
        for nesterov, eps, steps in ((True, 1.0, 0), (False, 0.1, 0), (False, 1.0, 1))
    ],
    "torch.rprop": [
        {"etaminus": 0.7, "etaplus": 1.3, "step_size_min": least, "step_size_max": most, "maximize": on}
        for on, least, most in ((False, 0.01, 0.05), (True, 0.15, 0.3), (False, 0.3, 0.15))
    ],
    "papers.lion": [{"beta1": 0.7, "beta2": 0.9, "weight_decay": 0.3}],
    "papers.adan": [{"beta1": 0.3, "beta2": 0.4, "beta3": 0.2, "epsilon": 0.1, "weight_decay": 0.3}],
    "papers.adafactor": [{"c": 0.3, "eps1": 0.1, "eps2": 0.3, "d": 1.03}],
    "papers.adopt": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}],
    "papers.madgrad": [{"c": 0.3, "epsilon": 0.1}],
    "papers.laprop": [{"mu": 0.7, "nu": 0.9, "epsilon": 0.1}],
    "papers.adamod": [{"beta1": 0.7, "beta2": 0.9, "beta3": 0.3, "epsilon": 0.1}],
    "papers.ademamix": [{"beta1": 0.7, "beta2": 0.9, "beta3": 0.8, "alpha": 3.3, "epsilon": 0.1, "weight_decay": 0.3}],
    "papers.radam": [{"beta1": 0.7, "beta2": 0.9}],
    "papers.lars": [{"momentum": 0.7, "weight_decay": 0.3, "eta": 0.9}],
    "papers.novograd": [{"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1, "weight_decay": 0.3}],
    "clip_by_norm": [{"clip_norm": 1.0}, {"clip_norm": 1e-7}],
    "clip_by_global_norm": [{"clip_norm": 1.0}, {"clip_norm": 1e-7}],
    "l2_decay": [{"regularization_coeff": 0.3}],
    "clip_then_decay": [{"regularization_coeff": 0.3, "clip_norm": limit} for limit in (1.0, 1e-7)],
    "exponential_moving_average": [
        *({"decay": 0.7, "scheduled": scheduled} for scheduled in (False, True)),
        {"decay": 1 - 2.0**-10},  # where an epsilon in the correction matters
    ],
    "model_average": [{"average_window_rate": 0.5, "min_average_window": 1, "max_average_window": 3}],
    "dgc_compress": [{"momentum": 0.7, "sparsity": 0.75, "use_nesterov": look_ahead} for look_ahead in (False, True)],
}
LEARNING_RATES = [0.1, 0.1, 0.03, 0.03, 0.2, 0.2]
WITH_ZERO = {"papers.madgrad": [0.1, 0.0, 0.03, 0.03, 0.2, 0.2]}
"""Rates of rules whose dialects differ at a rate of 0."""

SEED = 20240229


def parameters_and_gradients(seed: int, name: str = "sgd") -> tuple[list[Any], list[list[Any]]]:
    """Mixed magnitudes with shrinking gradients and an element without any; a zero tensor; large; tiny gradients.

    For a rule that tells rows and columns apart, vectors become columns, and the zeros a row.
    """
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=7) * 10.0 ** rng.integers(-2, 1, 7)
    params = [mixed, np.zeros(3), 8 + rng.normal(size=(2, 2)), rng.normal(size=3) * 1e-5]
    grads = []
    for step in range(len(LEARNING_RATES)):
        shrinking = rng.normal(size=7) * 0.4**step * 10.0 ** rng.integers(-3, 1, 7)
        shrinking[-1] = 0.0
        large = np.zeros((2, 2)) if step == 0 else rng.normal(size=(2, 2))
        grads.append([shrinking, rng.normal(size=3), large, rng.normal(size=3) * 1e-6])
    if SUBJECTS[name].shaped:
        more = [(2, 1, 2), (2, 2, 1)] if SUBJECTS[name].takes((2, 1, 2)) else [(2, 2), (3, 1)]
        shapes = [(7, 1), (1, 3), *more]
        params, *grads = ([np.resize(x, y) for x, y in zip(xs, shapes, strict=True)] for xs in (params, *grads))
    return params, grads


def cases_of(name: str, dtype: Any) -> list[Case]:
    """A case for each of the hyperparameters; where all tensors share a norm, one of tiny gradients alone as well.

    Rules with a norm of each tensor have cases of scalars, too.
    """
    subject, dtype = SUBJECTS[name], np.dtype(dtype)
    params, grads = parameters_and_gradients(SEED, name)
    cases = [
        subject.adapted(
            Case(
                name,
                dtype.name,
                hyper,
                tuple(WITH_ZERO.get(name, LEARNING_RATES)),
                tuple(param.astype(dtype) for param in params),
                tuple(tuple(grad.astype(dtype) for grad in step) for step in grads),
            )
        )
        for hyper in HYPERS[name]
    ]
    scalars = isinstance(subject, RuleSubject) and not subject.elementwise and not subject.shaped
    return [
        *cases,
        *(case.only([3]) for case in cases if subject.joint),
        *(case.each(lambda array: array.reshape(-1)[0].reshape(())) for case in cases if scalars),
    ]


@dataclass(frozen=True)
class Lifted:
    """Numbers that allow for one rounding of each hyperparameter and no more; the judge's allow for that of 1-b."""

    form: Format

    def array(self, array: Any) -> Bounded:
        return Bounded.exact(array, self.form)

    def scalar(self, name: str, number: float) -> Bounded:
        return Bounded.scalar(number, scalar_format(self.form))


def on_bounds(case: Case, computed: Any) -> Expected:
    with default_environment():
        steps = list(SUBJECTS[case.optimizer].trajectory(case, Lifted(case.form), computed))
    parts = [
        np.stack([np.concatenate([getattr(x, p).reshape(-1) for x in xs]) for xs in steps]) for p in ("value", "bound")
    ]
    return Expected(*parts, np.zeros(case.size))


def farthest(a: Expected, b: Expected) -> float:
    """The largest distance in units of the larger bound; infinite where one alone has no finite value."""
    known = [np.isfinite(x.value) & np.isfinite(x.bound) for x in (a, b)]
    if np.any((known[0] & np.isnan(b.value)) | (known[1] & np.isnan(a.value))):
        return np.inf
    both = known[0] & known[1]
    apart, bound = np.abs(a.value[both] - b.value[both]), np.maximum(a.bound[both], b.bound[both])
    return max((float(d / e) if e > 0 else np.inf for d, e in zip(apart, bound, strict=True) if d > 0), default=0.0)


def most(a: list[Expected], b: list[Expected]) -> float:
    return max(map(farthest, a, b))
