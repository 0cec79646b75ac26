"""Maps rules of the book ``torch`` to what PaddlePaddle offers for them; what it has no argument for is pinned."""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.paddle.rules import PaddleClass

PLAIN = {"maximize": False}
COUPLED = {**PLAIN, "decoupled_weight_decay": False}
NAMES = {"epsilon": "eps"}
BETAS = ("beta1", "beta2", "epsilon", "weight_decay")
MOMENTS = {"exp_avg": "moment1", "exp_avg_sq": "moment2"}
UNDECAYED = ("weight_decay",)

BOOK: Mapping[str, PaddleClass] = {
    "torch.sgd": PaddleClass(
        "optimizer.Momentum",
        ("momentum", "use_nesterov", "weight_decay"),
        names={"use_nesterov": "nesterov"},
        slots={"momentum_buffer": "velocity"},
        none_if_zero=UNDECAYED,
        pinned={**PLAIN, "dampening": 0.0},
    ),
    "torch.adam": PaddleClass(
        "optimizer.Adam",
        (*BETAS, "amsgrad"),
        names=NAMES,
        slots=MOMENTS,
        none_if_zero=UNDECAYED,
        pinned=COUPLED,
    ),
    "torch.adamw": PaddleClass("optimizer.AdamW", (*BETAS, "amsgrad"), names=NAMES, slots=MOMENTS, pinned=PLAIN),
    "torch.nadam": PaddleClass(
        "optimizer.NAdam", (*BETAS, "momentum_decay"), names=NAMES, none_if_zero=UNDECAYED, pinned=COUPLED
    ),
    "torch.radam": PaddleClass("optimizer.RAdam", BETAS, names=NAMES, none_if_zero=UNDECAYED, pinned=COUPLED),
    "torch.adamax": PaddleClass(
        "optimizer.Adamax",
        BETAS,
        names=NAMES,
        slots={"exp_avg": "moment", "exp_inf": "inf_norm"},
        none_if_zero=UNDECAYED,
        pinned=PLAIN,
    ),
    "torch.adadelta": PaddleClass(
        "optimizer.Adadelta",
        ("epsilon", "rho", "weight_decay"),
        names=NAMES,
        slots={"square_avg": "_avg_squared_grad", "acc_delta": "_avg_squared_update"},
        none_if_zero=UNDECAYED,
        pinned=PLAIN,
    ),
    "torch.adagrad": PaddleClass(
        "optimizer.Adagrad",
        ("epsilon", "initial_accumulator_value", "weight_decay"),
        names=NAMES,
        slots={"sum": "moment"},
        none_if_zero=UNDECAYED,
        pinned={**PLAIN, "lr_decay": 0.0},
    ),
    "torch.rmsprop": PaddleClass(
        "optimizer.RMSProp",
        ("rho", "epsilon", "momentum", "centered", "weight_decay"),
        names={"rho": "alpha", **NAMES},
        slots={"square_avg": "mean_square", "grad_avg": "mean_grad"},
        none_if_zero=UNDECAYED,
        pinned=PLAIN,
    ),
    "torch.rprop": PaddleClass(
        "optimizer.Rprop",
        ("etas", "learning_rate_range"),
        names={"etas": ("etaminus", "etaplus"), "learning_rate_range": ("step_size_min", "step_size_max")},
        pinned=PLAIN,
    ),
}
"""Rules by name."""
