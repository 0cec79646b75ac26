"""Maps rules of the book ``torch`` to what PaddlePaddle offers for them; what it has no argument for is pinned."""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.paddle.papers import BETAS, MOMENTUM
from optimetry.conformance.targets.paddle.rules import PaddleClass

PLAIN = {"maximize": False}
COUPLED = {**PLAIN, "decoupled_weight_decay": False}
EPSILON = {"epsilon": "eps"}
DECAY = {"weight_decay": "weight_decay"}
ADAM = {**BETAS, **EPSILON, **DECAY}
MOMENTS = {"exp_avg": "moment1", "exp_avg_sq": "moment2"}
UNDECAYED = ("weight_decay",)

BOOK: Mapping[str, PaddleClass] = {
    "torch.sgd": PaddleClass(
        "optimizer.Momentum",
        {**MOMENTUM, "use_nesterov": "nesterov", **DECAY},
        slots={"momentum_buffer": "velocity"},
        none_if_zero=UNDECAYED,
        pinned={**PLAIN, "dampening": 0.0},
    ),
    "torch.adam": PaddleClass(
        "optimizer.Adam",
        {**ADAM, "amsgrad": "amsgrad"},
        slots=MOMENTS,
        none_if_zero=UNDECAYED,
        pinned=COUPLED,
    ),
    "torch.adamw": PaddleClass("optimizer.AdamW", {**ADAM, "amsgrad": "amsgrad"}, slots=MOMENTS, pinned=PLAIN),
    "torch.nadam": PaddleClass(
        "optimizer.NAdam", {**ADAM, "momentum_decay": "momentum_decay"}, none_if_zero=UNDECAYED, pinned=COUPLED
    ),
    "torch.radam": PaddleClass("optimizer.RAdam", ADAM, none_if_zero=UNDECAYED, pinned=COUPLED),
    "torch.adamax": PaddleClass(
        "optimizer.Adamax",
        ADAM,
        slots={"exp_avg": "moment", "exp_inf": "inf_norm"},
        none_if_zero=UNDECAYED,
        pinned=PLAIN,
    ),
    "torch.adadelta": PaddleClass(
        "optimizer.Adadelta",
        {**EPSILON, "rho": "rho", **DECAY},
        slots={"square_avg": "_avg_squared_grad", "acc_delta": "_avg_squared_update"},
        none_if_zero=UNDECAYED,
        pinned=PLAIN,
    ),
    "torch.adagrad": PaddleClass(
        "optimizer.Adagrad",
        {**EPSILON, "initial_accumulator_value": "initial_accumulator_value", **DECAY},
        slots={"sum": "moment"},
        none_if_zero=UNDECAYED,
        pinned={**PLAIN, "lr_decay": 0.0},
    ),
    "torch.rmsprop": PaddleClass(
        "optimizer.RMSProp",
        {"rho": "alpha", **EPSILON, **MOMENTUM, "centered": "centered", **DECAY},
        slots={"square_avg": "mean_square", "grad_avg": "mean_grad"},
        none_if_zero=UNDECAYED,
        pinned=PLAIN,
    ),
    "torch.rprop": PaddleClass(
        "optimizer.Rprop",
        {"etas": ("etaminus", "etaplus"), "learning_rate_range": ("step_size_min", "step_size_max")},
        pinned=PLAIN,
    ),
}
"""Rules by name."""
