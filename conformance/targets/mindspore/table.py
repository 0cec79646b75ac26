"""Maps each documented rule or wrapper to what MindSpore offers for it, with its arguments.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name, the suite
finds it. ``nn`` has MindSpore's own classes, ``experimental`` those of ``experimental.optim``, which follow torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimetry.conformance.targets.mindspore.rules import MindsporeClass
from optimetry.conformance.targets.mindspore.wrappers import Gradients
from optimetry.conformance.targets.offers import Offer

NARROW, WIDE = ("float16", "float32"), ("float32", "float64")
BETAS = {"beta1": "beta1", "beta2": "beta2"}
PAIR = {"betas": ("beta1", "beta2")}
EPS, EPSILON = {"eps": "eps"}, {"eps": "epsilon"}
MOMENTUM = {"momentum": "momentum"}
DECAY = {"weight_decay": "weight_decay"}
MAXIMIZE = {"maximize": "maximize"}
AMSGRAD = {"amsgrad": "amsgrad"}
DESCENT = {"maximize": False}
COUPLED = {"decoupled_weight_decay": False}
SMALL = 1e-8
"""The default of all classes, and what the kernel of `nn.Adagrad`, which has no such argument, holds."""

MOMENTS = {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}
LARGEST = {**MOMENTS, "max_exp_avg_sq": "max_exp_avg_sq"}
CORRECTED = ("beta1", "beta2")
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
        positive=(*CORRECTED, "epsilon"),
    ),
    "adamax": replace(
        ADAMAX,
        arguments={**BETAS, **EPSILON},
        slots={"moment": "moment1", "inf_norm": "moment2"},
        positive=(*CORRECTED, "epsilon"),
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
        positive=(*CORRECTED, "eps"),
    ),
    "torch.adamw": MindsporeClass(
        "nn.AdamWeightDecay",
        {**BETAS, **EPS, **DECAY},
        slots={"exp_avg": "moments1", "exp_avg_sq": "moments2"},
        pinned={**DESCENT, "amsgrad": False},
        positive=(*CORRECTED, "eps"),
    ),
    "torch.adamax": replace(
        ADAMAX,
        arguments={**BETAS, **EPS, **DECAY},
        slots={"exp_avg": "moment1", "exp_inf": "moment2"},
        pinned=DESCENT,
        positive=(*CORRECTED, "eps"),
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
        positive=(*CORRECTED, "epsilon"),
    ),
    "papers.amsgrad": replace(
        ADAM,
        arguments=BETAS,
        constants={"eps": SMALL, "use_amsgrad": True},
        slots={"m": "moment1", "v": "moment2", "v_max": "vhat"},
        positive=CORRECTED,
        dtypes=("float32",),
    ),
    "papers.adamw": MindsporeClass(
        "nn.AdamWeightDecay",
        {**BETAS, **EPSILON, **DECAY},
        slots={"m": "moments1", "v": "moments2"},
        positive=(*CORRECTED, "epsilon"),
    ),
    "papers.adamax": replace(
        ADAMAX, arguments=BETAS, constants={"eps": SMALL}, slots={"m": "moment1", "u": "moment2"}, positive=CORRECTED
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

OPTIM = "experimental.optim"
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

ENGINES: Mapping[str, Mapping[str, Offer]] = {"nn": NN, "experimental": EXPERIMENTAL}
"""The table of each engine."""

OFFERS: Mapping[str, Offer] = {**EXPERIMENTAL, **NN}
"""What some engine offers."""

LAMB = "mindspore.nn.Lamb has no kernel on the CPU"
LARS = "mindspore.nn.LARS has no kernel on the CPU"

ABSENT: Mapping[str, str] = {
    "lars_momentum": LARS,
    "lamb": LAMB,
    "papers.lars": LARS,
    "papers.lamb": LAMB,
    "asgd": "mindspore has no class that averages the last gradients",
    "dgc_compress": "mindspore has no deep gradient compression",
    "l1_decay": "mindspore has no L1 decay",
    "exponential_moving_average": "mindspore has no averages of parameters",
    "model_average": "mindspore has no averages of parameters",
}
