"""Maps rules of the book ``torch`` to what Optax offers for them; what it has no argument for is pinned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import optax

from optimetry.conformance.targets.optax.rules import OptaxRule

PLAIN = {"weight_decay": 0.0, "maximize": False}
COUPLED = {**PLAIN, "decoupled_weight_decay": False}
BETAS = {"b1": "beta1", "b2": "beta2", "eps": "eps"}
MOMENTS = {"exp_avg": "mu", "exp_avg_sq": "nu", "step": "count"}


def adafactor(learning_rate: Any, beta2_decay: Any, **numbers: Any) -> Any:
    """``optax.adafactor`` with the power of the step as torch gives it, and factors of matrices of every size."""
    return optax.adafactor(learning_rate, min_dim_size_to_factor=0, decay_rate=-beta2_decay, **numbers)


BOOK: Mapping[str, OptaxRule] = {
    "torch.sgd": OptaxRule(
        optax.sgd,
        {"momentum": "momentum", "nesterov": "nesterov"},
        slots={"momentum_buffer": "trace"},
        pinned={**PLAIN, "dampening": 0.0},
    ),
    "torch.adam": OptaxRule(optax.adam, BETAS, slots=MOMENTS, pinned={**COUPLED, "amsgrad": False}),
    "torch.adamw": OptaxRule(
        optax.adamw,
        {**BETAS, "weight_decay": "weight_decay"},
        slots=MOMENTS,
        pinned={"amsgrad": False, "maximize": False},
    ),
    "torch.nadam": OptaxRule(optax.nadam, BETAS, slots=MOMENTS, pinned={**COUPLED, "momentum_decay": 0.004}),
    "torch.radam": OptaxRule(optax.radam, BETAS, slots=MOMENTS, pinned=COUPLED),
    "torch.adamax": OptaxRule(
        optax.adamax, BETAS, slots={"exp_avg": "mu", "exp_inf": "nu", "step": "count"}, pinned=PLAIN
    ),
    "torch.adadelta": OptaxRule(
        optax.adadelta,
        {"rho": "rho", "eps": "eps"},
        slots={"square_avg": "e_g", "acc_delta": "e_x"},
        pinned=PLAIN,
    ),
    "torch.adagrad": OptaxRule(
        optax.adagrad,
        {"eps": "eps", "initial_accumulator_value": "initial_accumulator_value"},
        slots={"sum": "sum_of_squares"},
        pinned={**PLAIN, "lr_decay": 0.0},
    ),
    "torch.rmsprop": OptaxRule(
        optax.rmsprop,
        {"decay": "alpha", "eps": "eps", "momentum": "momentum", "centered": "centered"},
        constants={"eps_in_sqrt": False, "initial_scale": 0.0, "bias_correction": False, "nesterov": False},
        slots={"square_avg": "nu", "grad_avg": "mu", "momentum_buffer": "trace"},
        pinned=PLAIN,
    ),
    "torch.adafactor": OptaxRule(
        adafactor,
        {"beta2_decay": "beta2_decay", "eps": "eps1", "clipping_threshold": "d", "weight_decay_rate": "weight_decay"},
        pinned={"eps2": 1e-3, "maximize": False},
    ),
    "torch.rprop": OptaxRule(
        optax.rprop,
        {
            "eta_minus": "etaminus",
            "eta_plus": "etaplus",
            "min_step_size": "step_size_min",
            "max_step_size": "step_size_max",
        },
        pinned={"maximize": False},
    ),
}
"""Rules by name."""
