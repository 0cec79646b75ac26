"""Maps each documented rule or wrapper to what MLX offers for it, with its arguments.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name, the suite
finds it. ``bias_correction`` is on, since the documents have it, though MLX leaves it out by default.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.mlx.rules import MlxClass
from optimetry.conformance.targets.mlx.wrappers import Clip
from optimetry.conformance.targets.offers import Offer

BETAS = {"betas": ("beta1", "beta2")}
EPSILON = {"eps": "epsilon"}
CORRECTED = {"bias_correction": True}
UNDECAYED = {"weight_decay": 0.0, "maximize": False}

OFFERS: Mapping[str, Offer] = {
    "sgd": MlxClass("SGD"),
    "momentum": MlxClass("SGD", {"momentum": "momentum", "nesterov": "use_nesterov"}, slots={"velocity": "v"}),
    "adagrad": MlxClass(
        "Adagrad", EPSILON, slots={"moment": "v"}, positive=("epsilon",), pinned={"initial_accumulator_value": 0.0}
    ),
    # RMSprop without momentum, which it has not, is the decayed Adagrad of the documents: epsilon outside the root.
    "decayed_adagrad": MlxClass("RMSprop", {"alpha": "decay", **EPSILON}, slots={"moment": "v"}, positive=("epsilon",)),
    "adadelta": MlxClass(
        "AdaDelta", {"rho": "rho", **EPSILON}, slots={"avg_squared_grad": "v", "avg_squared_update": "u"}
    ),
    "adam": MlxClass("Adam", {**BETAS, **EPSILON}, constants=CORRECTED, slots={"moment1": "m", "moment2": "v"}),
    "adamax": MlxClass("Adamax", {**BETAS, **EPSILON}, slots={"moment": "m", "inf_norm": "v"}),
    "rmsprop": MlxClass(
        "RMSprop",
        {"alpha": "rho", **EPSILON},
        slots={"mean_square": "v"},
        positive=("epsilon",),
        pinned={"momentum": 0.0, "centered": False},
    ),
    "torch.sgd": MlxClass(
        "SGD",
        {"momentum": "momentum", "nesterov": "nesterov", "dampening": "dampening", "weight_decay": "weight_decay"},
        slots={"momentum_buffer": "v"},
        pinned={"maximize": False},
    ),
    "torch.adam": MlxClass(
        "Adam",
        {**BETAS, "eps": "eps"},
        constants=CORRECTED,
        slots={"exp_avg": "m", "exp_avg_sq": "v"},
        pinned={**UNDECAYED, "amsgrad": False, "decoupled_weight_decay": False},
    ),
    "torch.adamw": MlxClass(
        "AdamW",
        {**BETAS, "eps": "eps", "weight_decay": "weight_decay"},
        constants=CORRECTED,
        slots={"exp_avg": "m", "exp_avg_sq": "v"},
        pinned={"maximize": False, "amsgrad": False},
    ),
    "torch.adamax": MlxClass(
        "Adamax", {**BETAS, "eps": "eps"}, slots={"exp_avg": "m", "exp_inf": "v"}, pinned=UNDECAYED
    ),
    "torch.adagrad": MlxClass(
        "Adagrad",
        {"eps": "eps"},
        slots={"sum": "v"},
        positive=("eps",),
        pinned={**UNDECAYED, "initial_accumulator_value": 0.0, "lr_decay": 0.0},
    ),
    "torch.adadelta": MlxClass(
        "AdaDelta",
        {"rho": "rho", "eps": "eps"},
        slots={"square_avg": "v", "acc_delta": "u"},
        positive=("eps",),
        pinned=UNDECAYED,
    ),
    "torch.rmsprop": MlxClass(
        "RMSprop",
        {"alpha": "alpha", "eps": "eps"},
        slots={"square_avg": "v"},
        positive=("eps",),
        pinned={**UNDECAYED, "momentum": 0.0, "centered": False},
    ),
    "papers.adam": MlxClass("Adam", {**BETAS, **EPSILON}, constants=CORRECTED, slots={"m": "m", "v": "v"}),
    "papers.adamax": MlxClass("Adamax", BETAS, slots={"m": "m", "u": "v"}),
    "papers.adamw": MlxClass(
        "AdamW",
        {**BETAS, **EPSILON, "weight_decay": "weight_decay"},
        constants=CORRECTED,
        slots={"m": "m", "v": "v"},
    ),
    "papers.adagrad": MlxClass("Adagrad", {"eps": "delta"}, slots={"s": "v"}, positive=("delta",)),
    "papers.adadelta": MlxClass(
        "AdaDelta",
        {"rho": "rho", **EPSILON},
        slots={"mean_square_grad": "v", "mean_square_step": "u"},
        positive=("epsilon",),
    ),
    "papers.lion": MlxClass("Lion", {**BETAS, "weight_decay": "weight_decay"}, slots={"m": "m"}),
    "clip_by_global_norm": Clip("clip_norm"),
}

ABSENT: Mapping[str, str] = {
    "lars_momentum": "mlx.optimizers has no LARS class",
    "lamb": "mlx.optimizers has no LAMB class",
    "ftrl": "mlx.optimizers has no FTRL class",
    "asgd": "mlx.optimizers has no class that averages the last gradients",
    "dgc_compress": "mlx has no deep gradient compression",
    "l1_decay": "mlx.optimizers has no L1 decay",
    "l2_decay": "mlx.optimizers has weight decay as a part of its classes alone",
    "clip_then_decay": "mlx.optimizers has weight decay as a part of its classes alone",
    "clip_by_value": "mlx.optimizers clips by the global norm alone",
    "clip_by_norm": "mlx.optimizers clips by the global norm alone",
    "exponential_moving_average": "mlx.optimizers has no averages of parameters",
    "model_average": "mlx.optimizers has no averages of parameters",
}
