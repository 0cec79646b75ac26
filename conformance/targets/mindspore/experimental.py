"""Maps documented rules to ``mindspore.experimental.optim``, whose classes follow torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimetry.conformance.targets.mindspore.nn import (
    AVERAGES,
    COUPLED,
    DECAY,
    DESCENT,
    EPS,
    EPSILON,
    MOMENTUM,
    NARROW,
    SMALL,
    WIDE,
)
from optimetry.conformance.targets.mindspore.rules import MindsporeClass
from optimetry.conformance.targets.offers import Offer

OPTIM = "experimental.optim"
PAIR = {"betas": ("beta1", "beta2")}
MAXIMIZE = {"maximize": "maximize"}
AMSGRAD = {"amsgrad": "amsgrad"}
MOMENTS = {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}
LARGEST = {**MOMENTS, "max_exp_avg_sq": "max_exp_avg_sq"}
SGD = MindsporeClass(f"{OPTIM}.SGD", dtypes=NARROW)
TORCH_ADAM = MindsporeClass(f"{OPTIM}.Adam", dtypes=NARROW)
TORCH_ADAMW = MindsporeClass(f"{OPTIM}.AdamW", dtypes=WIDE)
TORCH_ADAMAX = MindsporeClass(f"{OPTIM}.Adamax", dtypes=WIDE)
TORCH_ADADELTA = MindsporeClass(f"{OPTIM}.Adadelta")
TORCH_ADAGRAD = MindsporeClass(f"{OPTIM}.Adagrad")
TORCH_RMSPROP = MindsporeClass(f"{OPTIM}.RMSprop", dtypes=WIDE)

EXPERIMENTAL: Mapping[str, Offer] = {
    "sgd": SGD,
    "momentum": replace(SGD, arguments={**MOMENTUM, "nesterov": "use_nesterov"}, slots={"velocity": "accum"}),
    "adagrad": replace(
        TORCH_ADAGRAD,
        arguments={**EPSILON, "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "accum"},
        positive=("epsilon",),
    ),
    "adadelta": replace(TORCH_ADADELTA, arguments={"rho": "rho", **EPSILON}, slots=AVERAGES),
    "adam": replace(TORCH_ADAM, arguments={**PAIR, **EPSILON}, slots={"moment1": "exp_avg", "moment2": "exp_avg_sq"}),
    "adamax": replace(
        TORCH_ADAMAX,
        arguments={**PAIR, **EPSILON},
        slots={"moment": "exp_avg", "inf_norm": "exp_inf"},
        positive=("epsilon",),
    ),
    "rmsprop": replace(
        TORCH_RMSPROP,
        arguments={"alpha": "rho", **EPSILON, **MOMENTUM, "centered": "centered"},
        slots={"mean_square": "mean_square", "mean_grad": "mean_grad", "velocity": "moment"},
        positive=("epsilon",),
    ),
    "torch.sgd": replace(
        SGD,
        arguments={**MOMENTUM, **DECAY, **MAXIMIZE, "dampening": "dampening", "nesterov": "nesterov"},
        slots={"momentum_buffer": "accum"},
    ),
    "torch.adam": replace(
        TORCH_ADAM, arguments={**PAIR, **EPS, **DECAY, **MAXIMIZE, **AMSGRAD}, slots=LARGEST, pinned=COUPLED
    ),
    "torch.adamw": replace(TORCH_ADAMW, arguments={**PAIR, **EPS, **DECAY, **MAXIMIZE, **AMSGRAD}, slots=LARGEST),
    "torch.adamax": replace(
        TORCH_ADAMAX,
        arguments={**PAIR, **EPS, **DECAY, **MAXIMIZE},
        slots={"exp_avg": "exp_avg", "exp_inf": "exp_inf"},
        positive=("eps",),
    ),
    "torch.adagrad": replace(
        TORCH_ADAGRAD,
        arguments={
            **EPS,
            **DECAY,
            **MAXIMIZE,
            "lr_decay": "lr_decay",
            "initial_accumulator_value": "initial_accumulator_value",
        },
        slots={"sum": "accum"},
        positive=("eps",),
    ),
    "torch.adadelta": replace(
        TORCH_ADADELTA,
        arguments={**EPS, **DECAY, **MAXIMIZE, "rho": "rho"},
        slots={"square_avg": "accum", "acc_delta": "accum_update"},
        positive=("eps",),
    ),
    "torch.rmsprop": replace(
        TORCH_RMSPROP,
        arguments={**EPS, **DECAY, **MAXIMIZE, **MOMENTUM, "alpha": "alpha", "centered": "centered"},
        slots={"square_avg": "mean_square", "grad_avg": "mean_grad", "momentum_buffer": "moment"},
        positive=("eps",),
    ),
    "torch.nadam": MindsporeClass(
        f"{OPTIM}.NAdam",
        {**PAIR, **EPS, **DECAY, "momentum_decay": "momentum_decay"},
        slots={**MOMENTS, "mu_product": "mu_product"},
        pinned={**COUPLED, **DESCENT},
        positive=("eps",),
        dtypes=WIDE,
    ),
    "torch.radam": MindsporeClass(
        f"{OPTIM}.RAdam",
        {**PAIR, **EPS, **DECAY},
        slots=MOMENTS,
        pinned={**COUPLED, **DESCENT},
        positive=("eps",),
        dtypes=WIDE,
    ),
    "torch.rprop": MindsporeClass(
        f"{OPTIM}.Rprop",
        {**MAXIMIZE, "etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")},
        slots={"prev": "prev", "step_size": "step_size"},
        dtypes=WIDE,
    ),
    "torch.asgd": MindsporeClass(
        f"{OPTIM}.ASGD",
        {**MAXIMIZE, **DECAY, "lambd": "lambd", "alpha": "alpha", "t0": "t0"},
        slots={"ax": "ax", "eta": "eta", "mu": "mu"},
    ),
    "papers.adam": replace(TORCH_ADAM, arguments={**PAIR, **EPSILON}, slots={"m": "exp_avg", "v": "exp_avg_sq"}),
    "papers.amsgrad": replace(
        TORCH_ADAM,
        arguments=PAIR,
        constants={"eps": SMALL, "amsgrad": True},
        slots={"m": "exp_avg", "v": "exp_avg_sq", "v_max": "max_exp_avg_sq"},
    ),
    "papers.adamw": replace(
        TORCH_ADAMW, arguments={**PAIR, **EPSILON, **DECAY}, slots={"m": "exp_avg", "v": "exp_avg_sq"}
    ),
    "papers.adamax": replace(
        TORCH_ADAMAX, arguments=PAIR, constants={"eps": SMALL}, slots={"m": "exp_avg", "u": "exp_inf"}
    ),
    "papers.adagrad": replace(TORCH_ADAGRAD, arguments={"eps": "delta"}, slots={"s": "accum"}, positive=("delta",)),
    "papers.adadelta": replace(
        TORCH_ADADELTA,
        arguments={"rho": "rho", **EPSILON},
        slots={"mean_square_grad": "accum", "mean_square_step": "accum_update"},
        positive=("epsilon",),
    ),
}
"""What `mindspore.experimental.optim` is offered for."""
