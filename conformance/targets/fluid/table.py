"""Maps each documented rule or wrapper to what fluid offers for it, with its arguments.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name, the suite
finds it.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.fluid.rules import REGULARIZATION, FluidClass
from optimetry.conformance.targets.fluid.wrappers import Average, Gradients
from optimetry.conformance.targets.offers import Offer

NARROW = ("float32",)
BETAS = {"beta1": "beta1", "beta2": "beta2"}
EPSILON = {"epsilon": "epsilon"}
EPS = {"epsilon": "eps"}
MOMENTUM = {"momentum": "momentum"}
INITIAL = {"initial_accumulator_value": "initial_accumulator_value"}
ASCENT = {"maximize": False}
DECAY = {REGULARIZATION: "weight_decay"}

OFFERS: Mapping[str, Offer] = {
    "sgd": FluidClass("SGDOptimizer"),
    "momentum": FluidClass(
        "MomentumOptimizer", {**MOMENTUM, "use_nesterov": "use_nesterov"}, slots={"velocity": "velocity"}
    ),
    "lars_momentum": FluidClass(
        "LarsMomentumOptimizer",
        {**MOMENTUM, "lars_coeff": "lars_coeff", "lars_weight_decay": "lars_weight_decay"},
        slots={"velocity": "velocity"},
    ),
    "adagrad": FluidClass("AdagradOptimizer", {**EPSILON, **INITIAL}, slots={"moment": "moment"}),
    "decayed_adagrad": FluidClass(
        "DecayedAdagradOptimizer", {"decay": "decay", **EPSILON}, slots={"moment": "moment"}, dtypes=NARROW
    ),
    "adadelta": FluidClass(
        "AdadeltaOptimizer",
        {"rho": "rho", **EPSILON},
        slots={"avg_squared_grad": "_avg_squared_grad", "avg_squared_update": "_avg_squared_update"},
    ),
    "adam": FluidClass("AdamOptimizer", {**BETAS, **EPSILON}, slots={"moment1": "moment1", "moment2": "moment2"}),
    "adamax": FluidClass("AdamaxOptimizer", {**BETAS, **EPSILON}, slots={"moment": "moment", "inf_norm": "inf_norm"}),
    "rmsprop": FluidClass(
        "RMSPropOptimizer",
        {"rho": "rho", **EPSILON, **MOMENTUM, "centered": "centered"},
        slots={"mean_square": "mean_square", "mean_grad": "mean_grad", "velocity": "momentum"},
        dtypes=NARROW,
    ),
    "ftrl": FluidClass(
        "FtrlOptimizer",
        {"l1": "l1", "l2": "l2", "lr_power": "lr_power"},
        slots={"squared_accum": "squared", "linear_accum": "linear"},
        dtypes=NARROW,
    ),
    "lamb": FluidClass(
        "LambOptimizer",
        {"lamb_weight_decay": "lamb_weight_decay", **BETAS, **EPSILON},
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "torch.sgd": FluidClass(
        "MomentumOptimizer",
        {**MOMENTUM, "use_nesterov": "nesterov", **DECAY},
        slots={"momentum_buffer": "velocity"},
        pinned={**ASCENT, "dampening": 0.0},
    ),
    "torch.adam": FluidClass(
        "AdamOptimizer",
        {**BETAS, **EPS, **DECAY},
        slots={"exp_avg": "moment1", "exp_avg_sq": "moment2"},
        pinned={**ASCENT, "amsgrad": False, "decoupled_weight_decay": False},
    ),
    "torch.adamax": FluidClass(
        "AdamaxOptimizer",
        {**BETAS, **EPS, **DECAY},
        slots={"exp_avg": "moment", "exp_inf": "inf_norm"},
        pinned=ASCENT,
    ),
    "torch.adagrad": FluidClass(
        "AdagradOptimizer",
        {**EPS, **INITIAL, **DECAY},
        slots={"sum": "moment"},
        pinned={**ASCENT, "lr_decay": 0.0},
    ),
    "torch.adadelta": FluidClass(
        "AdadeltaOptimizer",
        {"rho": "rho", **EPS, **DECAY},
        slots={"square_avg": "_avg_squared_grad", "acc_delta": "_avg_squared_update"},
        pinned=ASCENT,
    ),
    "torch.rmsprop": FluidClass(
        "RMSPropOptimizer",
        {"rho": "alpha", **EPS, **MOMENTUM, "centered": "centered", **DECAY},
        slots={"square_avg": "mean_square", "grad_avg": "mean_grad", "momentum_buffer": "momentum"},
        pinned=ASCENT,
        dtypes=NARROW,
    ),
    "papers.adam": FluidClass("AdamOptimizer", {**BETAS, **EPSILON}, slots={"m": "moment1", "v": "moment2"}),
    # The publication has no epsilon, so fluid's default stays.
    "papers.adamax": FluidClass("AdamaxOptimizer", BETAS, slots={"m": "moment", "u": "inf_norm"}),
    "papers.adagrad": FluidClass("AdagradOptimizer", {"epsilon": "delta"}, slots={"s": "moment"}),
    "papers.adadelta": FluidClass(
        "AdadeltaOptimizer",
        {"rho": "rho", **EPSILON},
        slots={"mean_square_grad": "_avg_squared_grad", "mean_square_step": "_avg_squared_update"},
    ),
    "papers.ftrl": FluidClass(
        "FtrlOptimizer",
        {"l1": "lambda1", "l2": "lambda2"},
        slots={"n": "squared", "z": "linear"},
        pinned={"beta": 0.0},
        dtypes=NARROW,
    ),
    "papers.lars": FluidClass(
        "LarsMomentumOptimizer",
        {**MOMENTUM, "lars_coeff": "eta", "lars_weight_decay": "weight_decay"},
        slots={"v": "velocity"},
    ),
    "papers.lamb": FluidClass(
        "LambOptimizer",
        {"lamb_weight_decay": "weight_decay", **BETAS, **EPSILON},
        slots={"m": "moment1", "v": "moment2"},
    ),
    "clip_by_value": Gradients("GradientClipByValue", {"max": "max", "min": "min"}),
    "clip_by_norm": Gradients("GradientClipByNorm", {"clip_norm": "clip_norm"}, dtypes=NARROW),
    "clip_by_global_norm": Gradients("GradientClipByGlobalNorm", {"clip_norm": "clip_norm"}, dtypes=NARROW),
    "l1_decay": Gradients(regularizer="L1Decay", strength="regularization_coeff"),
    "l2_decay": Gradients(regularizer="L2Decay", strength="regularization_coeff"),
    "clip_then_decay": Gradients(
        "GradientClipByGlobalNorm",
        {"clip_norm": "clip_norm"},
        regularizer="L2Decay",
        strength="regularization_coeff",
        dtypes=NARROW,
    ),
    "exponential_moving_average": Average("ExponentialMovingAverage", ("decay",), schedule="scheduled"),
    "model_average": Average(
        "ModelAverage",
        ("average_window_rate", "min_average_window", "max_average_window"),
        dtypes=NARROW,
    ),
}
"""What fluid is offered for."""

ABSENT: Mapping[str, str] = {
    "asgd": "fluid 1.8.5 has no class that averages the last gradients",
    "dgc_compress": "DGCMomentumOptimizer of fluid is for CUDA alone",
}
