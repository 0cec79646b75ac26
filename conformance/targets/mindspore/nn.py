"""Maps documented rules and wrappers to ``mindspore.nn`` and ``mindspore.ops``: MindSpore's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimetry.conformance.targets.mindspore.rules import MindsporeClass
from optimetry.conformance.targets.mindspore.wrappers import Gradients
from optimetry.conformance.targets.offers import Offer

NARROW, WIDE = ("float16", "float32"), ("float32", "float64")
BETAS = {"beta1": "beta1", "beta2": "beta2"}
EPS, EPSILON = {"eps": "eps"}, {"eps": "epsilon"}
MOMENTUM = {"momentum": "momentum"}
DECAY = {"weight_decay": "weight_decay"}
DESCENT = {"maximize": False}
COUPLED = {"decoupled_weight_decay": False}
SMALL = 1e-8
"""The default of Adam and AdaMax, for documents without an epsilon, and what the kernel of `nn.Adagrad` always adds."""

OPEN_BETAS = ("beta1", "beta2")
"""The betas of `nn`, which must lie above 0."""

ADAM = MindsporeClass("nn.Adam", dtypes=NARROW)
ADAMAX = MindsporeClass("nn.AdaMax")
RMSPROP = MindsporeClass("nn.RMSProp", dtypes=NARROW)
AVERAGES = {"avg_squared_grad": "accum", "avg_squared_update": "accum_update"}

NN: Mapping[str, Offer] = {
    "sgd": MindsporeClass("nn.SGD", dtypes=NARROW),
    "momentum": MindsporeClass(
        "nn.Momentum", {**MOMENTUM, "use_nesterov": "use_nesterov"}, slots={"velocity": "moments"}
    ),
    "adagrad": MindsporeClass(
        "nn.Adagrad", {"accum": "initial_accumulator_value"}, slots={"moment": "accum"}, pinned={"epsilon": SMALL}
    ),
    "adadelta": MindsporeClass("nn.Adadelta", {"rho": "rho", "epsilon": "epsilon"}, slots=AVERAGES),
    "adam": replace(
        ADAM,
        arguments={**BETAS, **EPSILON},
        slots={"moment1": "moment1", "moment2": "moment2"},
        positive=(*OPEN_BETAS, "epsilon"),
    ),
    "adamax": replace(
        ADAMAX,
        arguments={**BETAS, **EPSILON},
        slots={"moment": "moment1", "inf_norm": "moment2"},
        positive=(*OPEN_BETAS, "epsilon"),
    ),
    "rmsprop": replace(
        RMSPROP,
        arguments={"decay": "rho", "epsilon": "epsilon", **MOMENTUM, "centered": "centered"},
        slots={"mean_square": "ms", "mean_grad": "mg", "velocity": "moment"},
        positive=("epsilon",),
    ),
    "ftrl": MindsporeClass(
        "nn.FTRL",
        {"l1": "l1", "l2": "l2", "lr_power": "lr_power"},
        constants={"initial_accum": 0.0},
        slots={"squared_accum": "moments", "linear_accum": "linear"},
        dtypes=WIDE,
    ),
    "torch.sgd": MindsporeClass(
        "nn.SGD",
        {**MOMENTUM, **DECAY, "dampening": "dampening", "nesterov": "nesterov"},
        slots={"momentum_buffer": "accum"},
        pinned=DESCENT,
        dtypes=NARROW,
    ),
    "torch.adam": replace(
        ADAM,
        arguments={**BETAS, **EPS, **DECAY, "use_amsgrad": "amsgrad"},
        slots={"exp_avg": "moment1", "exp_avg_sq": "moment2", "max_exp_avg_sq": "vhat"},
        pinned={**DESCENT, **COUPLED},
        positive=(*OPEN_BETAS, "eps"),
    ),
    "torch.adamw": MindsporeClass(
        "nn.AdamWeightDecay",
        {**BETAS, **EPS, **DECAY},
        slots={"exp_avg": "moments1", "exp_avg_sq": "moments2"},
        pinned={**DESCENT, "amsgrad": False},
        positive=(*OPEN_BETAS, "eps"),
    ),
    "torch.adamax": replace(
        ADAMAX,
        arguments={**BETAS, **EPS, **DECAY},
        slots={"exp_avg": "moment1", "exp_inf": "moment2"},
        pinned=DESCENT,
        positive=(*OPEN_BETAS, "eps"),
    ),
    "torch.adadelta": MindsporeClass(
        "nn.Adadelta",
        {"rho": "rho", "epsilon": "eps", **DECAY},
        slots={"square_avg": "accum", "acc_delta": "accum_update"},
        pinned=DESCENT,
    ),
    "torch.rmsprop": replace(
        RMSPROP,
        arguments={"decay": "alpha", "epsilon": "eps", **DECAY, **MOMENTUM, "centered": "centered"},
        slots={"square_avg": "ms", "grad_avg": "mg", "momentum_buffer": "moment"},
        pinned=DESCENT,
        positive=("eps",),
    ),
    "torch.rprop": MindsporeClass(
        "nn.Rprop",
        {"etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")},
        slots={"prev": "prev", "step_size": "step_size"},
        pinned=DESCENT,
    ),
    "torch.asgd": MindsporeClass(
        "nn.ASGD",
        {"lambd": "lambd", "alpha": "alpha", "t0": "t0", **DECAY},
        slots={"ax": "ax", "eta": "eta", "mu": "mu"},
        pinned=DESCENT,
    ),
    "papers.adam": replace(
        ADAM,
        arguments={**BETAS, **EPSILON},
        slots={"m": "moment1", "v": "moment2"},
        positive=(*OPEN_BETAS, "epsilon"),
    ),
    "papers.amsgrad": replace(
        ADAM,
        arguments=BETAS,
        constants={"eps": SMALL, "use_amsgrad": True},
        slots={"m": "moment1", "v": "moment2", "v_max": "vhat"},
        positive=OPEN_BETAS,
        dtypes=("float32",),
    ),
    "papers.adamw": MindsporeClass(
        "nn.AdamWeightDecay",
        {**BETAS, **EPSILON, **DECAY},
        slots={"m": "moments1", "v": "moments2"},
        positive=(*OPEN_BETAS, "epsilon"),
    ),
    "papers.adamax": replace(
        ADAMAX, arguments=BETAS, constants={"eps": SMALL}, slots={"m": "moment1", "u": "moment2"}, positive=OPEN_BETAS
    ),
    "papers.adadelta": MindsporeClass(
        "nn.Adadelta",
        {"rho": "rho", "epsilon": "epsilon"},
        slots={"mean_square_grad": "accum", "mean_square_step": "accum_update"},
    ),
    "papers.ftrl": MindsporeClass(
        "nn.FTRL",
        {"l1": "lambda1", "l2": "lambda2"},
        constants={"initial_accum": 0.0},
        slots={"n": "moments", "z": "linear"},
        pinned={"beta": 0.0},
        dtypes=WIDE,
    ),
    "papers.adagrad": MindsporeClass(
        "nn.Adagrad", constants={"accum": 0.0}, slots={"s": "accum"}, pinned={"delta": SMALL}
    ),
    "clip_by_value": Gradients("clip_by_value", ("min", "max")),
    "clip_by_norm": Gradients("clip_by_norm", ("clip_norm",)),
    "clip_by_global_norm": Gradients("clip_by_global_norm", ("clip_norm",), together=True),
    "l2_decay": Gradients(decay="regularization_coeff"),
    "clip_then_decay": Gradients("clip_by_global_norm", ("clip_norm",), together=True, decay="regularization_coeff"),
}
"""What `mindspore.nn` and `mindspore.ops` are offered for."""
