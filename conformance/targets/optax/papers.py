"""Maps rules of the book ``papers`` to what Optax offers for them; what it has no argument for is pinned.

An epsilon that a publication does not have keeps Optax' default: there is no number to pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import optax
import optax.contrib

from optimetry.conformance.targets.optax.rules import OptaxRule

BETAS = {"b1": "beta1", "b2": "beta2"}
EPSILON = {"eps": "epsilon"}
DECAY = {"weight_decay": "weight_decay"}
MOMENTS = {"m": "mu", "v": "nu", "step": "count"}


def adan(learning_rate: Any, *, beta1: Any, beta2: Any, beta3: Any, **others: Any) -> Any:
    """Make Adan; Optax' decays are the shares of the averages that are kept, the publication's those that are not."""
    return optax.adan(learning_rate, b1=1 - beta1, b2=1 - beta2, b3=1 - beta3, eps_root=0.0, **others)


def adafactor(learning_rate: Any, *, c: Any, **numbers: Any) -> Any:
    """Make Adafactor with factors of matrices of every size."""
    return optax.adafactor(learning_rate, min_dim_size_to_factor=0, decay_rate=c, **numbers)


def madgrad(learning_rate: Any, *, c: Any, eps: Any) -> Any:
    """Make MADGRAD; Optax' momentum is the share of the parameter, the publication's that of the dual average."""
    return optax.contrib.madgrad(learning_rate, momentum=1 - c, eps=eps)


PAPERS: Mapping[str, OptaxRule] = {
    "papers.adam": OptaxRule(optax.adam, {**BETAS, **EPSILON}, slots=MOMENTS),
    "papers.adamax": OptaxRule(optax.adamax, BETAS, slots={"m": "mu", "u": "nu", "step": "count"}),
    "papers.amsgrad": OptaxRule(
        optax.amsgrad,
        BETAS,
        constants={"bias_correction_mu": False, "bias_correction_nu": False},
        slots={**MOMENTS, "v_max": "nu_max"},
    ),
    "papers.adamw": OptaxRule(optax.adamw, {**BETAS, **EPSILON, **DECAY}, slots=MOMENTS),
    "papers.nadam": OptaxRule(
        optax.nadam,
        {"b1": "mu", "b2": "nu", **EPSILON},
        slots={"m": "mu", "n": "nu", "step": "count"},
        pinned={"momentum_decay": 0.004},
    ),
    "papers.radam": OptaxRule(optax.radam, BETAS, constants={"threshold": 4.0}, slots=MOMENTS),
    "papers.adagrad": OptaxRule(
        optax.adagrad, {"eps": "delta"}, constants={"initial_accumulator_value": 0.0}, slots={"s": "sum_of_squares"}
    ),
    "papers.adadelta": OptaxRule(
        optax.adadelta, {"rho": "rho", **EPSILON}, slots={"mean_square_grad": "e_g", "mean_square_step": "e_x"}
    ),
    "papers.lars": OptaxRule(
        optax.lars,
        {"momentum": "momentum", "trust_coefficient": "eta", **DECAY},
        constants={"eps": 0.0, "nesterov": False},
        slots={"v": "trace"},
    ),
    "papers.lamb": OptaxRule(optax.lamb, {**BETAS, **EPSILON, **DECAY}, slots=MOMENTS),
    "papers.lion": OptaxRule(optax.lion, {**BETAS, **DECAY}, slots={"m": "mu", "step": "count"}),
    "papers.adabelief": OptaxRule(
        optax.adabelief, {**BETAS, **EPSILON, "eps_root": "epsilon"}, slots={"m": "mu", "s": "nu", "step": "count"}
    ),
    "papers.yogi": OptaxRule(optax.yogi, {**BETAS, **EPSILON}, slots=MOMENTS),
    "papers.novograd": OptaxRule(optax.novograd, {**BETAS, **EPSILON, **DECAY}, slots=MOMENTS),
    "papers.adan": OptaxRule(
        adan,
        {"beta1": "beta1", "beta2": "beta2", "beta3": "beta3", **EPSILON, **DECAY},
        slots={"previous": "g", "step": "t"},
    ),
    "papers.adafactor": OptaxRule(
        adafactor, {"c": "c", "eps": "eps1", "clipping_threshold": "d"}, pinned={"eps2": 1e-3}
    ),
    "papers.adopt": OptaxRule(optax.contrib.adopt, {**BETAS, **EPSILON}, slots=MOMENTS),
    "papers.ademamix": OptaxRule(
        optax.contrib.ademamix,
        {**BETAS, "b3": "beta3", "alpha": "alpha", **EPSILON, **DECAY},
        slots={"step": "count"},
    ),
    "papers.madgrad": OptaxRule(madgrad, {"c": "c", **EPSILON}, slots={"nu": "grad_sum_sq", "step": "count"}),
    "papers.signum": OptaxRule(optax.signum, {"beta": "beta"}, slots={"m": "ema", "step": "count"}),
}
"""Rules by name."""
