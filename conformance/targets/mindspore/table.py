"""Maps each documented rule to what MindSpore offers for it, with its arguments.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name, the suite
finds it. ``nn`` has MindSpore's own classes, ``experimental.optim`` those that follow torch.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.mindspore.rules import MindsporeClass
from optimetry.conformance.targets.offers import Offer

BETAS = {"beta1": "beta1", "beta2": "beta2"}
PAIR = {"betas": ("beta1", "beta2")}
EPS = {"eps": "eps"}
MOMENTUM = {"momentum": "momentum"}
DECAY = {"weight_decay": "weight_decay"}
MAXIMIZE = {"maximize": "maximize"}
OPEN_BETAS = ("beta1", "beta2", "epsilon")
MOMENTS = {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}

OFFERS: Mapping[str, Offer] = {
    "sgd": MindsporeClass("nn.SGD"),
    "momentum": MindsporeClass(
        "nn.Momentum", {**MOMENTUM, "use_nesterov": "use_nesterov"}, slots={"velocity": "moments"}
    ),
    "adagrad": MindsporeClass(
        "experimental.optim.Adagrad",
        {"eps": "epsilon", "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "accum"},
        open_interval=("epsilon",),
    ),
    "adadelta": MindsporeClass(
        "nn.Adadelta",
        {"rho": "rho", "epsilon": "epsilon"},
        slots={"avg_squared_grad": "accum", "avg_squared_update": "accum_update"},
    ),
    "adam": MindsporeClass(
        "nn.Adam",
        {**BETAS, "eps": "epsilon"},
        slots={"moment1": "moment1", "moment2": "moment2"},
        open_interval=OPEN_BETAS,
    ),
    "adamax": MindsporeClass(
        "nn.AdaMax",
        {**BETAS, "eps": "epsilon"},
        slots={"moment": "moment1", "inf_norm": "moment2"},
        open_interval=OPEN_BETAS,
    ),
    "rmsprop": MindsporeClass(
        "nn.RMSProp",
        {"decay": "rho", "epsilon": "epsilon", **MOMENTUM, "centered": "centered"},
        slots={"mean_square": "ms", "velocity": "moment"},
        open_interval=("epsilon",),
    ),
    "ftrl": MindsporeClass(
        "nn.FTRL",
        {"l1": "l1", "l2": "l2", "lr_power": "lr_power"},
        constants={"initial_accum": 0.0},
        slots={"squared_accum": "moments", "linear_accum": "linear"},
    ),
    "torch.sgd": MindsporeClass(
        "nn.SGD",
        {**MOMENTUM, **DECAY, "dampening": "dampening", "nesterov": "nesterov"},
        slots={"momentum_buffer": "accum"},
        pinned={"maximize": False},
    ),
    "torch.adam": MindsporeClass(
        "experimental.optim.Adam",
        {**PAIR, **EPS, **DECAY, **MAXIMIZE, "amsgrad": "amsgrad"},
        slots=MOMENTS,
        pinned={"decoupled_weight_decay": False},
    ),
    "torch.adamw": MindsporeClass(
        "experimental.optim.AdamW", {**PAIR, **EPS, **DECAY, **MAXIMIZE, "amsgrad": "amsgrad"}, slots=MOMENTS
    ),
    "torch.adamax": MindsporeClass(
        "experimental.optim.Adamax",
        {**PAIR, **EPS, **DECAY, **MAXIMIZE},
        slots={"exp_avg": "exp_avg", "exp_inf": "exp_inf"},
    ),
    "torch.adagrad": MindsporeClass(
        "experimental.optim.Adagrad",
        {**EPS, **DECAY, **MAXIMIZE, "lr_decay": "lr_decay", "initial_accumulator_value": "initial_accumulator_value"},
        slots={"sum": "accum"},
        open_interval=("eps",),
    ),
    "torch.adadelta": MindsporeClass(
        "experimental.optim.Adadelta",
        {**EPS, **DECAY, **MAXIMIZE, "rho": "rho"},
        slots={"square_avg": "accum", "acc_delta": "accum_update"},
        open_interval=("eps",),
    ),
    "torch.rmsprop": MindsporeClass(
        "experimental.optim.RMSprop",
        {**EPS, **DECAY, **MAXIMIZE, **MOMENTUM, "alpha": "alpha", "centered": "centered"},
        slots={"square_avg": "mean_square"},
        open_interval=("eps",),
    ),
    "torch.nadam": MindsporeClass(
        "experimental.optim.NAdam",
        {**PAIR, **EPS, **DECAY, "momentum_decay": "momentum_decay"},
        slots=MOMENTS,
        pinned={"decoupled_weight_decay": False, "maximize": False},
        open_interval=("eps",),
    ),
    "torch.radam": MindsporeClass(
        "experimental.optim.RAdam",
        {**PAIR, **EPS, **DECAY},
        slots=MOMENTS,
        pinned={"decoupled_weight_decay": False, "maximize": False},
        open_interval=("eps",),
    ),
    "torch.rprop": MindsporeClass(
        "nn.Rprop",
        {"etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")},
        slots={"prev": "prev", "step_size": "step_size"},
        pinned={"maximize": False},
    ),
    "torch.asgd": MindsporeClass(
        "nn.ASGD",
        {"lambd": "lambd", "alpha": "alpha", "t0": "t0", **DECAY},
        slots={"ax": "ax", "eta": "eta", "mu": "mu"},
        pinned={"maximize": False},
    ),
    "papers.adam": MindsporeClass(
        "nn.Adam", {**BETAS, "eps": "epsilon"}, slots={"m": "moment1", "v": "moment2"}, open_interval=OPEN_BETAS
    ),
    "papers.adamax": MindsporeClass("nn.AdaMax", BETAS, slots={"m": "moment1", "u": "moment2"}),
    "papers.adadelta": MindsporeClass(
        "nn.Adadelta",
        {"rho": "rho", "epsilon": "epsilon"},
        slots={"mean_square_grad": "accum", "mean_square_step": "accum_update"},
    ),
}

ABSENT: Mapping[str, str] = {
    "lamb": "mindspore.nn.Lamb has no kernel on the CPU",
    "papers.lamb": "mindspore.nn.Lamb has no kernel on the CPU",
    "lars_momentum": "mindspore.nn.LARS has no kernel on the CPU",
    "papers.lars": "mindspore.nn.LARS has no kernel on the CPU",
}
